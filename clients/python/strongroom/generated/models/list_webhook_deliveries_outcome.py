from typing import Literal, cast

ListWebhookDeliveriesOutcome = Literal["delivered", "failed", "parked"]


def check_list_webhook_deliveries_outcome(value: str) -> ListWebhookDeliveriesOutcome:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(ListWebhookDeliveriesOutcome, value)
