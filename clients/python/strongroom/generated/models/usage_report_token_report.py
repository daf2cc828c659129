from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.usage_report_token_report_tokens_by_type import (
        UsageReportTokenReportTokensByType,
    )


T = TypeVar("T", bound="UsageReportTokenReport")


@_attrs_define(repr=False)
class UsageReportTokenReport:
    """The tenant’s tokens.

    Attributes:
        tokens_total (int): The number of live tokens.
        tokens_by_type (UsageReportTokenReportTokensByType): The number of live tokens of each type. Types without
            tokens are absent.
    """

    tokens_total: int
    tokens_by_type: UsageReportTokenReportTokensByType

    def to_dict(self) -> dict[str, Any]:
        tokens_total = self.tokens_total

        tokens_by_type = self.tokens_by_type.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "tokens_total": tokens_total,
                "tokens_by_type": tokens_by_type,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_report_token_report_tokens_by_type import (
            UsageReportTokenReportTokensByType,  # noqa: PLC0415
        )

        d = dict(src_dict)
        tokens_total = d.pop("tokens_total")

        tokens_by_type = UsageReportTokenReportTokensByType.from_dict(d.pop("tokens_by_type"))

        usage_report_token_report = cls(
            tokens_total=tokens_total,
            tokens_by_type=tokens_by_type,
        )

        return usage_report_token_report
