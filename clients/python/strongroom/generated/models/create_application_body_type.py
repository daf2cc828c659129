from typing import Literal, cast

CreateApplicationBodyType = Literal["management", "private", "public"]


def check_create_application_body_type(value: str) -> CreateApplicationBodyType:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(CreateApplicationBodyType, value)
