from typing import Literal, cast

PermissionApplicationTypesItem = Literal["management", "private", "public"]


def check_permission_application_types_item(value: str) -> PermissionApplicationTypesItem:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(PermissionApplicationTypesItem, value)
