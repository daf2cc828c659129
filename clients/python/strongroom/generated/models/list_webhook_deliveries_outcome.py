from typing import Literal, cast

ListWebhookDeliveriesOutcome = Literal["delivered", "failed", "parked"]


def check_list_webhook_deliveries_outcome(value: str) -> ListWebhookDeliveriesOutcome:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListWebhookDeliveriesOutcome, value)
