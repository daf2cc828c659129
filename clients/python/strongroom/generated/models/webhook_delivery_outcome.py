from typing import Literal, cast

WebhookDeliveryOutcome = Literal["delivered", "failed", "parked"]


def check_webhook_delivery_outcome(value: str) -> WebhookDeliveryOutcome:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(WebhookDeliveryOutcome, value)
