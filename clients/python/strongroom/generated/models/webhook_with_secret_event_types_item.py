from typing import Literal, cast

WebhookWithSecretEventTypesItem = Literal[
    "access.denied",
    "application.created",
    "application.deleted",
    "application.key.issued",
    "application.key.revoked",
    "application.updated",
    "token.created",
    "token.deleted",
    "token.expired",
    "token.property.expired",
    "token.updated",
]


def check_webhook_with_secret_event_types_item(value: str) -> WebhookWithSecretEventTypesItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(WebhookWithSecretEventTypesItem, value)
