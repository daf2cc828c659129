from typing import Any, cast

from ...client import Sender
from ...models.found_page import FoundPage
from ...models.search_suggestions import SearchSuggestions
from ...models.search_tokens_body import SearchTokensBody
from ...models.search_tokens_v2_body import SearchTokensV2Body
from ...models.token_cursor_page import TokenCursorPage
from ...types import UNSET, Unset
from . import search_suggestions as _search_suggestions
from . import search_tokens as _search_tokens
from . import search_tokens_v2 as _search_tokens_v2


class Operations(Sender):
    def search_tokens(
        self,
        *,
        body: SearchTokensBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> FoundPage:
        """Search tokens.

        A query consists of `field:value` terms, joined by AND, OR, NOT (also `!` and `-`) and parentheses.
        Fields: id, type, data, fingerprint, container, metadata.<key>, created_by, created_at, modified_by,
        modified_at. An empty query finds every token that the caller may see.

        Permission: `token:search`.
        """
        return self.send(
            "search_tokens",
            lambda: _search_tokens.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _search_tokens.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def search_tokens_v2(
        self,
        *,
        body: SearchTokensV2Body,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> TokenCursorPage:
        """Search tokens with a cursor.

        Accepts the same queries as `POST /tokens/search`. A client that follows `next` from page to page
        gets no token twice and misses none.

        Permission: `token:search`.
        """
        return self.send(
            "search_tokens_v2",
            lambda: _search_tokens_v2.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _search_tokens_v2.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def search_suggestions(
        self,
        *,
        prefix: str | Unset = "",
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> SearchSuggestions:
        """Complete a term of a query.

        Returns the fields, types, metadata keys and containers that begin with a prefix, or the closest
        matches if none do. After `type:`, `container:` or `metadata.`, it returns only suggestions of that
        kind. Metadata keys and containers may be up to ten minutes out of date. A caller that may not
        search all containers gets the containers of its own rules instead.

        Permission: `token:search`.
        """
        return self.send(
            "search_suggestions",
            lambda: _search_suggestions.request(
                prefix=prefix,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _search_suggestions.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
