from typing import Literal, cast

CreateTokenBodyType = Literal[
    "bank",
    "card",
    "card_number",
    "employer_id_number",
    "social_security_number",
    "token",
    "us_bank_account_number",
    "us_bank_routing_number",
]


def check_create_token_body_type(value: str) -> CreateTokenBodyType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(CreateTokenBodyType, value)
