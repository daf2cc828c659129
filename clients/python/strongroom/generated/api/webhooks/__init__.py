from typing import Any, cast

from ...client import Sender
from ...models.create_webhook_body import CreateWebhookBody
from ...models.list_webhook_deliveries_outcome import (
    ListWebhookDeliveriesOutcome,
    check_list_webhook_deliveries_outcome,
)
from ...models.list_webhook_deliveries_response_200 import (
    ListWebhookDeliveriesResponse200,
)
from ...models.list_webhooks_response_200 import ListWebhooksResponse200
from ...models.rotate_webhook_secret_body import RotateWebhookSecretBody
from ...models.update_webhook_body import UpdateWebhookBody
from ...models.webhook import Webhook
from ...models.webhook_delivery import WebhookDelivery
from ...models.webhook_with_secret import WebhookWithSecret
from ...types import UNSET, Unset
from . import create_webhook as _create_webhook
from . import delete_webhook as _delete_webhook
from . import get_webhook as _get_webhook
from . import list_webhook_deliveries as _list_webhook_deliveries
from . import list_webhooks as _list_webhooks
from . import rotate_webhook_secret as _rotate_webhook_secret
from . import test_webhook as _test_webhook
from . import update_webhook as _update_webhook


class Operations(Sender):
    def list_webhooks(
        self,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> ListWebhooksResponse200:
        """List webhooks.

        Returns the tenant’s webhooks, newest first, without their secrets.

        Permission: `webhook:read`.
        """
        return self.send(
            "list_webhooks",
            lambda: _list_webhooks.request(
                page=page,
                size=size,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_webhooks.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def create_webhook(
        self,
        *,
        body: CreateWebhookBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> WebhookWithSecret:
        """Create a webhook.

        Creates a webhook, which receives every matching event from then on. Only this response shows its
        secret. A tenant can have at most ten webhooks.

        Permission: `webhook:create`.
        """
        return self.send(
            "create_webhook",
            lambda: _create_webhook.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _create_webhook.parse,
            status=201,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def get_webhook(
        self,
        id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Webhook:
        """Get a webhook.

        Returns a webhook without its secrets.

        Permission: `webhook:read`.
        """
        return self.send(
            "get_webhook",
            lambda: _get_webhook.request(
                id=id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _get_webhook.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def update_webhook(
        self,
        id: str,
        *,
        body: UpdateWebhookBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Webhook:
        """Update a webhook.

        Replaces all fields of a webhook except its secrets. A change takes effect within seconds.

        Permission: `webhook:update`.
        """
        return self.send(
            "update_webhook",
            lambda: _update_webhook.request(
                id=id,
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _update_webhook.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def delete_webhook(
        self,
        id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> None:
        """Delete a webhook.

        Deletes a webhook and drops its pending deliveries. A delivery that is in progress may still arrive.

        Permission: `webhook:delete`.
        """
        return self.send(
            "delete_webhook",
            lambda: _delete_webhook.request(
                id=id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _delete_webhook.parse,
            status=204,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def rotate_webhook_secret(
        self,
        id: str,
        *,
        body: RotateWebhookSecretBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> WebhookWithSecret:
        """Rotate the secret of a webhook.

        Creates a new secret, which only this response shows. Until the overlap ends, each delivery is also
        signed with the old secrets. At most three secrets sign each delivery.

        Permission: `webhook:update`.
        """
        return self.send(
            "rotate_webhook_secret",
            lambda: _rotate_webhook_secret.request(
                id=id,
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _rotate_webhook_secret.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def test_webhook(
        self,
        id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> WebhookDelivery:
        """Send a test delivery.

        Sends an event of the type `webhook.test` and returns the outcome. If it is delivered, all
        deliveries that are waiting for their next attempt become due immediately. While 10 tests of the
        tenant are waiting for a response, further tests fail.

        Permission: `webhook:update`.
        """
        return self.send(
            "test_webhook",
            lambda: _test_webhook.request(
                id=id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _test_webhook.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def list_webhook_deliveries(
        self,
        id: str,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        outcome: ListWebhookDeliveriesOutcome | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> ListWebhookDeliveriesResponse200:
        """List delivery attempts.

        Returns the last 100 attempts and the last 200 deliveries that were abandoned (parked), newest
        first. Test deliveries are not listed.

        Permission: `webhook:read`.
        """
        return self.send(
            "list_webhook_deliveries",
            lambda: _list_webhook_deliveries.request(
                id=id,
                page=page,
                size=size,
                outcome=outcome,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_webhook_deliveries.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
