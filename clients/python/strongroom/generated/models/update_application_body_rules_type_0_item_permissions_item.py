from typing import Literal, cast

UpdateApplicationBodyRulesType0ItemPermissionsItem = Literal[
    "token:create", "token:delete", "token:read", "token:search", "token:update", "token:use"
]


def check_update_application_body_rules_type_0_item_permissions_item(
    value: str,
) -> UpdateApplicationBodyRulesType0ItemPermissionsItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(UpdateApplicationBodyRulesType0ItemPermissionsItem, value)
