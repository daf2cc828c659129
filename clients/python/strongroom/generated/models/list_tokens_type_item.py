from typing import Literal, cast

ListTokensTypeItem = Literal[
    "bank",
    "card",
    "card_number",
    "employer_id_number",
    "social_security_number",
    "token",
    "us_bank_account_number",
    "us_bank_routing_number",
]


def check_list_tokens_type_item(value: str) -> ListTokensTypeItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListTokensTypeItem, value)
