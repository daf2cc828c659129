from typing import Literal, cast

AccessRulePermissionsItem = Literal[
    "token:create", "token:delete", "token:read", "token:search", "token:update", "token:use"
]


def check_access_rule_permissions_item(value: str) -> AccessRulePermissionsItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(AccessRulePermissionsItem, value)
