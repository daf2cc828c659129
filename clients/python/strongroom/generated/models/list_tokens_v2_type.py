from typing import Literal, cast

ListTokensV2Type = Literal[
    "bank",
    "card",
    "card_number",
    "employer_id_number",
    "social_security_number",
    "token",
    "us_bank_account_number",
    "us_bank_routing_number",
]


def check_list_tokens_v2_type(value: str) -> ListTokensV2Type:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListTokensV2Type, value)
