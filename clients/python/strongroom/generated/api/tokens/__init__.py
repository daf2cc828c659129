from typing import Any, cast

from ...client import Sender
from ...models.create_token_body import CreateTokenBody
from ...models.delete_tokens_body import DeleteTokensBody
from ...models.delete_tokens_response_200 import DeleteTokensResponse200
from ...models.list_tokens_metadata_filter import ListTokensMetadataFilter
from ...models.list_tokens_type_item import (
    ListTokensTypeItem,
    check_list_tokens_type_item,
)
from ...models.list_tokens_v2_metadata_filter import ListTokensV2MetadataFilter
from ...models.list_tokens_v2_type import ListTokensV2Type, check_list_tokens_v2_type
from ...models.token import Token
from ...models.token_cursor_page import TokenCursorPage
from ...models.token_history_response_200 import TokenHistoryResponse200
from ...models.token_page import TokenPage
from ...models.update_token_body import UpdateTokenBody
from ...types import UNSET, Unset
from . import create_token as _create_token
from . import delete_token as _delete_token
from . import delete_tokens as _delete_tokens
from . import get_token as _get_token
from . import list_tokens as _list_tokens
from . import list_tokens_v2 as _list_tokens_v2
from . import purge_cvc as _purge_cvc
from . import token_history as _token_history
from . import update_token as _update_token


class Operations(Sender):
    def list_tokens(
        self,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        id: list[str] | Unset = UNSET,
        type_: list[ListTokensTypeItem] | Unset = UNSET,
        metadata_filter: ListTokensMetadataFilter | Unset = UNSET,
        metadata: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> TokenPage:
        """List tokens.

        Returns the tokens that match all filters, newest first. If `id` or `type` is repeated, any of its
        values matches. Metadata values are compared as a whole, regardless of case. Any other parameter
        that begins with `metadata` returns 400.

        Permission: `token:read`.
        """
        return self.send(
            "list_tokens",
            lambda: _list_tokens.request(
                page=page,
                size=size,
                id=id,
                type_=type_,
                metadata_filter=metadata_filter,
                metadata=metadata,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_tokens.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def create_token(
        self,
        *,
        body: CreateTokenBody,
        service_idempotency_key: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Token:
        """Create a token.

        Stores a value and returns the token that stands for it. If deduplication applies and a live token
        has the same fingerprint, that token is returned instead, and `_extras.deduplicated` is true.

        Permission: `token:create`.
        """
        return self.send(
            "create_token",
            lambda: _create_token.request(
                body=body,
                service_idempotency_key=service_idempotency_key,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _create_token.parse,
            status=201,
            is_json=True,
            takes_idempotency_key=True,
            is_repeatable=True,
        )

    def list_tokens_v2(
        self,
        *,
        type_: ListTokensV2Type | Unset = UNSET,
        container: str | Unset = UNSET,
        fingerprint: str | Unset = UNSET,
        metadata_filter: ListTokensV2MetadataFilter | Unset = UNSET,
        metadata: str | Unset = UNSET,
        start: str | Unset = UNSET,
        size: int | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> TokenCursorPage:
        """List tokens with a cursor.

        Returns the tokens that match all filters, newest first. A client that follows `next` from page to
        page gets every token that exists throughout exactly once, regardless of what is created or deleted
        in the meantime.

        Permission: `token:read`.
        """
        return self.send(
            "list_tokens_v2",
            lambda: _list_tokens_v2.request(
                type_=type_,
                container=container,
                fingerprint=fingerprint,
                metadata_filter=metadata_filter,
                metadata=metadata,
                start=start,
                size=size,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_tokens_v2.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def get_token(
        self,
        id: str,
        *,
        if_none_match: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Token:
        """Get a token.

        Returns the token as the caller may see it: revealed, masked, or redacted (without `data`).

        Permission: `token:read`.
        """
        return self.send(
            "get_token",
            lambda: _get_token.request(
                id=id,
                if_none_match=if_none_match,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _get_token.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def delete_token(
        self,
        id: str,
        *,
        if_match: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> None:
        """Delete a token.

        Deletes and erases the token. A 204 means that its keys have been destroyed. After a 503, send the
        same request again to finish the deletion.

        Permission: `token:delete`.
        """
        return self.send(
            "delete_token",
            lambda: _delete_token.request(
                id=id,
                if_match=if_match,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _delete_token.parse,
            status=204,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def update_token(
        self,
        id: str,
        *,
        body: UpdateTokenBody,
        service_idempotency_key: str | Unset = UNSET,
        if_match: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Token:
        """Update a token.

        Applies a JSON merge patch (RFC 7386) to `data`, `mask` and `metadata`, and replaces the other
        fields. Null resets `mask`, `containers`, `search_indexes` and `fingerprint_expression` to the
        defaults of the type, clears `metadata`, and removes `expires_at`. Replaced data is erased before
        the response is sent, unless the tenant sets `keep_superseded_data`.

        Permission: `token:update`.
        """
        return self.send(
            "update_token",
            lambda: _update_token.request(
                id=id,
                body=body,
                service_idempotency_key=service_idempotency_key,
                if_match=if_match,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _update_token.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=True,
            is_repeatable=True,
        )

    def purge_cvc(
        self,
        id: str,
        *,
        if_match: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> None:
        """Purge the verification code of a card.

        Deletes the verification code immediately. Use this operation right after an authorization. It
        succeeds even if no code is stored.

        Permission: `token:update`.
        """
        return self.send(
            "purge_cvc",
            lambda: _purge_cvc.request(
                id=id,
                if_match=if_match,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _purge_cvc.parse,
            status=204,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def delete_tokens(
        self,
        *,
        body: DeleteTokensBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> DeleteTokensResponse200:
        """Delete many tokens by id or by query.

        Deletes the tokens that `ids` lists or that `query` finds. `query` also requires `token:search`. One
        call deletes up to 1,000 tokens and destroys their keys before it responds. Repeat a call with a
        query until `remaining` is 0.

        Permission: `token:delete`.
        """
        return self.send(
            "delete_tokens",
            lambda: _delete_tokens.request(
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _delete_tokens.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def token_history(
        self,
        id: str,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> TokenHistoryResponse200:
        """Get the history of a token.

        Returns the events of the token, newest first and without values, even after the token was deleted.
        With `log:read`, it covers all lives of the id. Otherwise, it covers the current life or, after a
        deletion, the last life if the caller has `token:read` on `/`.

        Permission: `log:read` or `token:read`.
        """
        return self.send(
            "token_history",
            lambda: _token_history.request(
                id=id,
                page=page,
                size=size,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _token_history.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
