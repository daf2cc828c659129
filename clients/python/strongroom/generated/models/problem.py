from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.problem_errors import ProblemErrors


T = TypeVar("T", bound="Problem")


@_attrs_define(repr=False)
class Problem:
    """Why a request failed (RFC 9457). It never contains a value from the request.

    Attributes:
        type_ (str): The path of a page on this service that explains this kind of problem.
        title (str): A short human-readable title, the same for every problem of this kind.
        status (int): The HTTP status.
        detail (str): A human-readable explanation of what happened and what to do.
        instance (str): The trace id of the request, as `urn:trace:<id>`.
        code (str): A stable, machine-readable code for the kind of problem.
        errors (ProblemErrors | Unset): Messages for each invalid field, keyed by the JSON path of the field. Absent
            from other kinds of problems.
    """

    type_: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: ProblemErrors | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        detail = self.detail

        instance = self.instance

        code = self.code

        errors: dict[str, Any] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = self.errors.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "detail": detail,
                "instance": instance,
                "code": code,
            }
        )
        if errors is not UNSET:
            field_dict["errors"] = errors

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.problem_errors import ProblemErrors  # noqa: PLC0415

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        detail = d.pop("detail")

        instance = d.pop("instance")

        code = d.pop("code")

        _errors = d.pop("errors", UNSET)
        errors: ProblemErrors | Unset
        if isinstance(_errors, Unset):
            errors = UNSET
        else:
            errors = ProblemErrors.from_dict(_errors)

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            detail=detail,
            instance=instance,
            code=code,
            errors=errors,
        )

        return problem
