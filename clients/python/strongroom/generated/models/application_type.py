from typing import Literal, cast

ApplicationType = Literal["management", "private", "public"]


def check_application_type(value: str) -> ApplicationType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ApplicationType, value)
