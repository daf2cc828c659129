from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.token_type import TokenType, check_token_type
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.token_extras import TokenExtras
    from ..models.token_metadata import TokenMetadata


T = TypeVar("T", bound="Token")


@_attrs_define(repr=False)
class Token:
    """The parts of a token that the caller may see. A create or update that is deduplicated onto a token that the caller
    may not read returns only its id, tenant, type, containers and `_extras`. It also returns the fingerprint if the
    request contained the value and, after an update, the times and authors.

        Attributes:
            id (str): The id of the token, unique in its tenant.
            tenant_id (str): The tenant that owns the token.
            type_ (TokenType): The type of the token. It determines which data the token accepts.
            containers (list[str]): The containers of the token, to which access rules apply.
            data (Any | Unset): The data as the caller may see it: as stored, or masked. Absent if the caller may see none
                of it.
            mask (Any | Unset): The mask: any JSON whose strings are expressions. Absent if the token has none.
            fingerprint (str | Unset): Within a tenant, equal values of the same type have equal fingerprints. Get, list,
                search and detokenize show the fingerprint to callers with the transform `reveal`, or to every caller if the
                tenant sets `show_fingerprints`. A create or update also shows it if the request contained every value that the
                expression reads.
            metadata (TokenMetadata | Unset): Non-sensitive key-value pairs from the caller, which are never masked. Absent
                if the token has none.
            search_indexes (list[str] | Unset): Expressions whose values find the token in a search. Absent if the token has
                none.
            fingerprint_expression (str | Unset): The expression whose value is fingerprinted. Absent only in a deduplicated
                token that the caller may not read.
            entity_ref (str | Unset): A keyed hash of the id, which identifies the token in the access log and in webhooks.
                Absent only in a deduplicated token that the caller may not read.
            expires_at (datetime.datetime | Unset): When the token expires. Absent if it never does.
            created_by (str | Unset): The application that created the token. Absent only in a deduplicated token that the
                caller may not read.
            created_at (datetime.datetime | Unset): When the token was created. Absent only in a deduplicated token that the
                caller may not read.
            modified_by (str | Unset): The application that changed the token last. Absent before the first change.
            modified_at (datetime.datetime | Unset): When the token was last changed. Absent before the first change.
            field_extras (TokenExtras | Unset): Remarks about this response, such as that the token already existed. Absent
                if there are none.
    """

    id: str
    tenant_id: str
    type_: TokenType
    containers: list[str]
    data: Any | Unset = UNSET
    mask: Any | Unset = UNSET
    fingerprint: str | Unset = UNSET
    metadata: TokenMetadata | Unset = UNSET
    search_indexes: list[str] | Unset = UNSET
    fingerprint_expression: str | Unset = UNSET
    entity_ref: str | Unset = UNSET
    expires_at: datetime.datetime | Unset = UNSET
    created_by: str | Unset = UNSET
    created_at: datetime.datetime | Unset = UNSET
    modified_by: str | Unset = UNSET
    modified_at: datetime.datetime | Unset = UNSET
    field_extras: TokenExtras | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        tenant_id = self.tenant_id

        type_: str = self.type_

        containers = self.containers

        data = self.data

        mask = self.mask

        fingerprint = self.fingerprint

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        search_indexes: list[str] | Unset = UNSET
        if not isinstance(self.search_indexes, Unset):
            search_indexes = self.search_indexes

        fingerprint_expression = self.fingerprint_expression

        entity_ref = self.entity_ref

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        created_by = self.created_by

        created_at: str | Unset = UNSET
        if not isinstance(self.created_at, Unset):
            created_at = self.created_at.isoformat()

        modified_by = self.modified_by

        modified_at: str | Unset = UNSET
        if not isinstance(self.modified_at, Unset):
            modified_at = self.modified_at.isoformat()

        field_extras: dict[str, Any] | Unset = UNSET
        if not isinstance(self.field_extras, Unset):
            field_extras = self.field_extras.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "id": id,
                "tenant_id": tenant_id,
                "type": type_,
                "containers": containers,
            }
        )
        if data is not UNSET:
            field_dict["data"] = data
        if mask is not UNSET:
            field_dict["mask"] = mask
        if fingerprint is not UNSET:
            field_dict["fingerprint"] = fingerprint
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if search_indexes is not UNSET:
            field_dict["search_indexes"] = search_indexes
        if fingerprint_expression is not UNSET:
            field_dict["fingerprint_expression"] = fingerprint_expression
        if entity_ref is not UNSET:
            field_dict["entity_ref"] = entity_ref
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if created_by is not UNSET:
            field_dict["created_by"] = created_by
        if created_at is not UNSET:
            field_dict["created_at"] = created_at
        if modified_by is not UNSET:
            field_dict["modified_by"] = modified_by
        if modified_at is not UNSET:
            field_dict["modified_at"] = modified_at
        if field_extras is not UNSET:
            field_dict["_extras"] = field_extras

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.token_extras import TokenExtras  # noqa: PLC0415
        from ..models.token_metadata import TokenMetadata  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        tenant_id = d.pop("tenant_id")

        type_ = check_token_type(d.pop("type"))

        containers = cast(list[str], d.pop("containers"))

        data = d.pop("data", UNSET)

        mask = d.pop("mask", UNSET)

        fingerprint = d.pop("fingerprint", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: TokenMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = TokenMetadata.from_dict(_metadata)

        search_indexes = cast(list[str], d.pop("search_indexes", UNSET))

        fingerprint_expression = d.pop("fingerprint_expression", UNSET)

        entity_ref = d.pop("entity_ref", UNSET)

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        created_by = d.pop("created_by", UNSET)

        _created_at = d.pop("created_at", UNSET)
        created_at: datetime.datetime | Unset
        if isinstance(_created_at, Unset):
            created_at = UNSET
        else:
            created_at = datetime.datetime.fromisoformat(_created_at)

        modified_by = d.pop("modified_by", UNSET)

        _modified_at = d.pop("modified_at", UNSET)
        modified_at: datetime.datetime | Unset
        if isinstance(_modified_at, Unset):
            modified_at = UNSET
        else:
            modified_at = datetime.datetime.fromisoformat(_modified_at)

        _field_extras = d.pop("_extras", UNSET)
        field_extras: TokenExtras | Unset
        if isinstance(_field_extras, Unset):
            field_extras = UNSET
        else:
            field_extras = TokenExtras.from_dict(_field_extras)

        token = cls(
            id=id,
            tenant_id=tenant_id,
            type_=type_,
            containers=containers,
            data=data,
            mask=mask,
            fingerprint=fingerprint,
            metadata=metadata,
            search_indexes=search_indexes,
            fingerprint_expression=fingerprint_expression,
            entity_ref=entity_ref,
            expires_at=expires_at,
            created_by=created_by,
            created_at=created_at,
            modified_by=modified_by,
            modified_at=modified_at,
            field_extras=field_extras,
        )

        return token
