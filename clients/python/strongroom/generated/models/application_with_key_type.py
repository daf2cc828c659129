from typing import Literal, cast

ApplicationWithKeyType = Literal["management", "private", "public"]


def check_application_with_key_type(value: str) -> ApplicationWithKeyType:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(ApplicationWithKeyType, value)
