from typing import Literal, cast

CreateApplicationBodyType = Literal["management", "private", "public"]


def check_create_application_body_type(value: str) -> CreateApplicationBodyType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(CreateApplicationBodyType, value)
