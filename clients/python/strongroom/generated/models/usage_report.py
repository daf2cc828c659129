from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.usage_report_token_report import UsageReportTokenReport


T = TypeVar("T", bound="UsageReport")


@_attrs_define(repr=False)
class UsageReport:
    """How much the tenant stores.

    Attributes:
        token_report (UsageReportTokenReport): The tenant’s tokens.
    """

    token_report: UsageReportTokenReport

    def to_dict(self) -> dict[str, Any]:
        token_report = self.token_report.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "token_report": token_report,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.usage_report_token_report import UsageReportTokenReport  # noqa: PLC0415

        d = dict(src_dict)
        token_report = UsageReportTokenReport.from_dict(d.pop("token_report"))

        usage_report = cls(
            token_report=token_report,
        )

        return usage_report
