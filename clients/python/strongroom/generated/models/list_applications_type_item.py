from typing import Literal, cast

ListApplicationsTypeItem = Literal["management", "private", "public"]


def check_list_applications_type_item(value: str) -> ListApplicationsTypeItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListApplicationsTypeItem, value)
