from typing import Literal, cast

CreateApplicationBodyRulesType0ItemPermissionsItem = Literal[
    "token:create", "token:delete", "token:read", "token:search", "token:update", "token:use"
]


def check_create_application_body_rules_type_0_item_permissions_item(
    value: str,
) -> CreateApplicationBodyRulesType0ItemPermissionsItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(CreateApplicationBodyRulesType0ItemPermissionsItem, value)
