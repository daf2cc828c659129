from typing import Literal, cast

PermissionApplicationTypesItem = Literal["management", "private", "public"]


def check_permission_application_types_item(value: str) -> PermissionApplicationTypesItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(PermissionApplicationTypesItem, value)
