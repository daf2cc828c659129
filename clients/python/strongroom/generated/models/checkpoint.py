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
        time (datetime.datetime): When the checkpoint was signed: at the beginning of an hour, or when the service first
            started in that hour.
        hash_ (str): The SHA-256 hash of the checkpoint, as 64 hexadecimal digits. The checkpoint contains the Merkle
            root of the log at that time.
        signed_by (str): The SHA-256 hash of the public key in PEM format, as 64 hexadecimal digits.
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
