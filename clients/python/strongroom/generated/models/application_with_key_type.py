from typing import Literal, cast

ApplicationWithKeyType = Literal["management", "private", "public"]


def check_application_with_key_type(value: str) -> ApplicationWithKeyType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ApplicationWithKeyType, value)
