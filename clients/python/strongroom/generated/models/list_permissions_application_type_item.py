from typing import Literal, cast

ListPermissionsApplicationTypeItem = Literal["management", "private", "public"]


def check_list_permissions_application_type_item(value: str) -> ListPermissionsApplicationTypeItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListPermissionsApplicationTypeItem, value)
