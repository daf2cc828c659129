from typing import Any, cast

from ...client import Sender
from ...models.delete_tenant_body import DeleteTenantBody
from ...models.tenant import Tenant
from ...models.update_tenant_body import UpdateTenantBody
from ...models.usage_report import UsageReport
from ...types import UNSET, Unset
from . import delete_tenant as _delete_tenant
from . import get_tenant as _get_tenant
from . import update_tenant as _update_tenant
from . import usage_report as _usage_report


class Operations(Sender):
    def get_tenant(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Tenant:
        """Get the tenant.

        Returns the tenant of the calling application, with its settings.

        Permission: `tenant:read`.
        """
        return self.send(
            "get_tenant",
            lambda: _get_tenant.request(
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _get_tenant.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def update_tenant(
        self,
        *,
        body: UpdateTenantBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Tenant:
        """Update the tenant.

        Changes the name and the given settings. Other settings stay the same. If `show_fingerprints` is
        "true", get, list, search and detokenize show the fingerprints of tokens even to callers that see
        the tokens masked or redacted. Equal values have equal fingerprints, so such a caller can find a
        hidden value by trying candidates if it may also create tokens. No guess budget limits the attempts.
        `_warnings` contains a warning while the setting is on.

        Permission: `tenant:update`.
        """
        return self.send(
            "update_tenant",
            lambda: _update_tenant.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _update_tenant.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def delete_tenant(
        self,
        *,
        body: DeleteTenantBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> None:
        """Delete the tenant.

        Destroys all of the tenant’s keys, so none of its tokens can ever be decrypted again. The body must
        repeat the tenant’s name. After a 503, send the same request again to finish the deletion.

        Permission: `tenant:delete`.
        """
        return self.send(
            "delete_tenant",
            lambda: _delete_tenant.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _delete_tenant.parse,
            status=204,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def usage_report(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> UsageReport:
        """Get the usage report.

        Returns the number of live tokens that the tenant has.

        Permission: `report:read`.
        """
        return self.send(
            "usage_report",
            lambda: _usage_report.request(
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _usage_report.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
