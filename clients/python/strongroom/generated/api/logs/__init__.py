from typing import Any, cast

from ...client import Sender
from ...models.list_checkpoints_response_200 import ListCheckpointsResponse200
from ...models.list_logs_entity_type import (
    ListLogsEntityType,
    check_list_logs_entity_type,
)
from ...models.list_logs_operation import ListLogsOperation, check_list_logs_operation
from ...models.list_logs_response_200 import ListLogsResponse200
from ...types import UNSET, Unset
from . import list_checkpoints as _list_checkpoints
from . import list_logs as _list_logs


class Operations(Sender):
    def list_logs(
        self,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        entity_type: ListLogsEntityType | Unset = UNSET,
        entity_id: str | Unset = UNSET,
        operation: ListLogsOperation | Unset = UNSET,
        start_date: str | Unset = UNSET,
        end_date: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> ListLogsResponse200:
        """Read the access log.

        Returns who did what, newest first, but never the data. Without `start_date`, it covers the last 24
        hours. Entries at `start_date` are included, and entries at `end_date` are not. Entries become
        visible within one second and are kept for 13 months.

        Permission: `log:read`.
        """
        return self.send(
            "list_logs",
            lambda: _list_logs.request(
                page=page,
                size=size,
                entity_type=entity_type,
                entity_id=entity_id,
                operation=operation,
                start_date=start_date,
                end_date=end_date,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_logs.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def list_checkpoints(
        self,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> ListCheckpointsResponse200:
        """List the signed checkpoints of the event log.

        Returns one checkpoint per hour, newest first. Keep copies elsewhere and verify them with the public
        key. Each checkpoint covers the vault’s whole log, which all tenants share, but reveals nothing
        about its contents.

        Permission: `log:read`.
        """
        return self.send(
            "list_checkpoints",
            lambda: _list_checkpoints.request(
                page=page,
                size=size,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_checkpoints.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
