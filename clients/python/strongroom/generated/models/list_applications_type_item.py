from typing import Literal, cast

ListApplicationsTypeItem = Literal["management", "private", "public"]


def check_list_applications_type_item(value: str) -> ListApplicationsTypeItem:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(ListApplicationsTypeItem, value)
