from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Checkpoint")


@_attrs_define(repr=False)
class Checkpoint:
    """A signed checkpoint of the event log.

    Attributes:
        time (datetime.datetime): When it was signed: at the beginning of an hour, or at the first start in that hour.
        hash_ (str): SHA-256 of the checkpoint, which holds the Merkle root of the log up to then, as 64 hexadecimal
            digits.
        signed_by (str): SHA-256 of the public key as PEM, as 64 hexadecimal digits.
        signature (str): The Ed25519 signature of the hash, in base64.
    """

    time: datetime.datetime
    hash_: str
    signed_by: str
    signature: str

    def to_dict(self) -> dict[str, Any]:
        time = self.time.isoformat()

        hash_ = self.hash_

        signed_by = self.signed_by

        signature = self.signature

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "time": time,
                "hash": hash_,
                "signed_by": signed_by,
                "signature": signature,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        time = datetime.datetime.fromisoformat(d.pop("time"))

        hash_ = d.pop("hash")

        signed_by = d.pop("signed_by")

        signature = d.pop("signature")

        checkpoint = cls(
            time=time,
            hash_=hash_,
            signed_by=signed_by,
            signature=signature,
        )

        return checkpoint
