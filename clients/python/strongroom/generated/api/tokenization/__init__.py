from typing import Any

from ...client import Sender
from ...types import UNSET, Unset
from . import detokenize as _detokenize
from . import tokenize as _tokenize


class Operations(Sender):
    def tokenize(
        self,
        *,
        body: Any,
        service_idempotency_key: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Any:
        """Replace values in any JSON with tokens.

        Replaces each object that has `type` and `data` with the token that it creates, and each other
        string, number and boolean with the id of a new token. One request creates at most 100 tokens,
        either all or none.

        Permission: `token:create`.
        """
        return self.send(
            "tokenize",
            lambda: _tokenize.request(
                body=body,
                service_idempotency_key=service_idempotency_key,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _tokenize.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=True,
            is_repeatable=True,
        )

    def detokenize(
        self,
        *,
        body: Any,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Any:
        """Replace tokens in any JSON with their values.

        Replaces expressions in the strings of the body: `{{ <id> }}` with what the caller may see of the
        token, `{{ <id> | <filters> }}` with the result of applying the filters to that, and `{{ token: <id>
        }}` with the token object, which has `enrichments` for cards. A request can name at most 100 ids.

        Permission: `token:use`.
        """
        return self.send(
            "detokenize",
            lambda: _detokenize.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _detokenize.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )
