from typing import Any, cast

from ...client import Sender
from ...models.describe_service_response_200 import DescribeServiceResponse200
from ...models.is_live_response_200 import IsLiveResponse200
from ...models.is_ready_response_200 import IsReadyResponse200
from ...types import UNSET, Unset
from . import describe_service as _describe_service
from . import explain_error as _explain_error
from . import is_live as _is_live
from . import is_ready as _is_ready
from . import show_reference as _show_reference
from . import show_script as _show_script
from . import show_style as _show_style


class Operations(Sender):
    def is_live(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> IsLiveResponse200:
        """Check whether the process is running.

        Returns 200 as long as the process is running, regardless of the state of its stores.

        Requires no key.
        """
        return self.send(
            "is_live",
            lambda: _is_live.request(
                service_trace_id=service_trace_id,
            ),
            _is_live.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def is_ready(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> IsReadyResponse200:
        """Check whether the service accepts requests.

        Returns the state without reasons. The admin listener shows the reasons.

        Requires no key.
        """
        return self.send(
            "is_ready",
            lambda: _is_ready.request(
                service_trace_id=service_trace_id,
            ),
            _is_ready.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def explain_error(
        self,
        code: str,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> str:
        """Explain a problem.

        Returns the page that the `type` of a problem links to.

        Requires no key.
        """
        return self.send(
            "explain_error",
            lambda: _explain_error.request(
                code=code,
                service_trace_id=service_trace_id,
            ),
            _explain_error.parse,
            status=200,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def describe_service(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> DescribeServiceResponse200:
        """The API description in OpenAPI 3.1.

        Requires no key.
        """
        return self.send(
            "describe_service",
            lambda: _describe_service.request(
                service_trace_id=service_trace_id,
            ),
            _describe_service.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def show_reference(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> str:
        """The API reference as a page.

        Requires no key.
        """
        return self.send(
            "show_reference",
            lambda: _show_reference.request(
                service_trace_id=service_trace_id,
            ),
            _show_reference.parse,
            status=200,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def show_style(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> str:
        """The style sheet for the pages.

        Requires no key.
        """
        return self.send(
            "show_style",
            lambda: _show_style.request(
                service_trace_id=service_trace_id,
            ),
            _show_style.parse,
            status=200,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def show_script(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
    ) -> str:
        """The script for the reference.

        Requires no key.
        """
        return self.send(
            "show_script",
            lambda: _show_script.request(
                service_trace_id=service_trace_id,
            ),
            _show_script.parse,
            status=200,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
