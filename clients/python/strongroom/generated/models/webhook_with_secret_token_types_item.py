from typing import Literal, cast

WebhookWithSecretTokenTypesItem = Literal[
    "bank",
    "card",
    "card_number",
    "employer_id_number",
    "social_security_number",
    "token",
    "us_bank_account_number",
    "us_bank_routing_number",
]


def check_webhook_with_secret_token_types_item(value: str) -> WebhookWithSecretTokenTypesItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(WebhookWithSecretTokenTypesItem, value)
