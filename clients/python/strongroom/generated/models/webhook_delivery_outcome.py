from typing import Literal, cast

WebhookDeliveryOutcome = Literal["delivered", "failed", "parked"]


def check_webhook_delivery_outcome(value: str) -> WebhookDeliveryOutcome:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(WebhookDeliveryOutcome, value)
