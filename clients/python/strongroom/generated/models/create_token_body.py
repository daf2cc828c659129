from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.create_token_body_type import (
    CreateTokenBodyType,
    check_create_token_body_type,
)
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.create_token_body_metadata_type_0 import CreateTokenBodyMetadataType0


T = TypeVar("T", bound="CreateTokenBody")


@_attrs_define(repr=False)
class CreateTokenBody:
    """
    Attributes:
        type_ (CreateTokenBodyType): The type of the token. It determines which data the token accepts.
        data (Any): The value to store: any JSON except null that the type accepts.
        id (None | str | Unset): The id: 3 to 400 characters, or an expression over `data`. Default: a random UUID.
        mask (Any | Unset): The mask: any JSON whose strings are expressions over `data` and `metadata`. The default
            depends on the type.
        containers (list[str] | None | Unset): 1 to 10 containers such as `/pci/high/`, stored in lower case. The
            default depends on the type.
        metadata (CreateTokenBodyMetadataType0 | None | Unset): Non-sensitive data: at most 50 keys of at most 100
            characters, with values of at most 1,000.
        search_indexes (list[str] | None | Unset): At most 10 expressions over `data` whose values find the token in a
            search. The default depends on the type.
        fingerprint_expression (None | str | Unset): One expression over `data` and `metadata` whose value is
            fingerprinted. The default depends on the type.
        deduplicate_token (bool | None | Unset): Whether this request deduplicates. Default: the tenant’s setting.
        expires_at (None | str | Unset): When the token expires: ISO 8601, `M/D/YYYY` or `M/D/YYYY h:mm:ss AM`, with an
            offset such as `-05:00` or, without one, in UTC. Default: never.
    """

    type_: CreateTokenBodyType
    data: Any
    id: None | str | Unset = UNSET
    mask: Any | Unset = UNSET
    containers: list[str] | None | Unset = UNSET
    metadata: CreateTokenBodyMetadataType0 | None | Unset = UNSET
    search_indexes: list[str] | None | Unset = UNSET
    fingerprint_expression: None | str | Unset = UNSET
    deduplicate_token: bool | None | Unset = UNSET
    expires_at: None | str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.create_token_body_metadata_type_0 import (
            CreateTokenBodyMetadataType0,  # noqa: PLC0415
        )

        type_: str = self.type_

        data = self.data

        id: None | str | Unset
        if isinstance(self.id, Unset):
            id = UNSET
        else:
            id = self.id

        mask = self.mask

        containers: list[str] | None | Unset
        if isinstance(self.containers, Unset):
            containers = UNSET
        elif isinstance(self.containers, list):
            containers = self.containers

        else:
            containers = self.containers

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, CreateTokenBodyMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        search_indexes: list[str] | None | Unset
        if isinstance(self.search_indexes, Unset):
            search_indexes = UNSET
        elif isinstance(self.search_indexes, list):
            search_indexes = self.search_indexes

        else:
            search_indexes = self.search_indexes

        fingerprint_expression: None | str | Unset
        if isinstance(self.fingerprint_expression, Unset):
            fingerprint_expression = UNSET
        else:
            fingerprint_expression = self.fingerprint_expression

        deduplicate_token: bool | None | Unset
        if isinstance(self.deduplicate_token, Unset):
            deduplicate_token = UNSET
        else:
            deduplicate_token = self.deduplicate_token

        expires_at: None | str | Unset
        if isinstance(self.expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = self.expires_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "data": data,
            }
        )
        if id is not UNSET:
            field_dict["id"] = id
        if mask is not UNSET:
            field_dict["mask"] = mask
        if containers is not UNSET:
            field_dict["containers"] = containers
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if search_indexes is not UNSET:
            field_dict["search_indexes"] = search_indexes
        if fingerprint_expression is not UNSET:
            field_dict["fingerprint_expression"] = fingerprint_expression
        if deduplicate_token is not UNSET:
            field_dict["deduplicate_token"] = deduplicate_token
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.create_token_body_metadata_type_0 import (
            CreateTokenBodyMetadataType0,  # noqa: PLC0415
        )

        d = dict(src_dict)
        type_ = check_create_token_body_type(d.pop("type"))

        data = d.pop("data")

        def _parse_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        id = _parse_id(d.pop("id", UNSET))

        mask = d.pop("mask", UNSET)

        def _parse_containers(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                containers_type_0 = cast(list[str], data)

                return containers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        containers = _parse_containers(d.pop("containers", UNSET))

        def _parse_metadata(data: object) -> CreateTokenBodyMetadataType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = CreateTokenBodyMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CreateTokenBodyMetadataType0 | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_search_indexes(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                search_indexes_type_0 = cast(list[str], data)

                return search_indexes_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        search_indexes = _parse_search_indexes(d.pop("search_indexes", UNSET))

        def _parse_fingerprint_expression(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        fingerprint_expression = _parse_fingerprint_expression(d.pop("fingerprint_expression", UNSET))

        def _parse_deduplicate_token(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        deduplicate_token = _parse_deduplicate_token(d.pop("deduplicate_token", UNSET))

        def _parse_expires_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        expires_at = _parse_expires_at(d.pop("expires_at", UNSET))

        create_token_body = cls(
            type_=type_,
            data=data,
            id=id,
            mask=mask,
            containers=containers,
            metadata=metadata,
            search_indexes=search_indexes,
            fingerprint_expression=fingerprint_expression,
            deduplicate_token=deduplicate_token,
            expires_at=expires_at,
        )

        create_token_body.additional_properties = d
        return create_token_body

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
