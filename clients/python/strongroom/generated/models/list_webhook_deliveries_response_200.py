from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.pagination import Pagination
    from ..models.webhook_delivery import WebhookDelivery


T = TypeVar("T", bound="ListWebhookDeliveriesResponse200")


@_attrs_define(repr=False)
class ListWebhookDeliveriesResponse200:
    """
    Attributes:
        pagination (Pagination): The position of a page among all items.
        data (list[WebhookDelivery]): The items of this page, newest first.
    """

    pagination: Pagination
    data: list[WebhookDelivery]

    def to_dict(self) -> dict[str, Any]:
        pagination = self.pagination.to_dict()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "pagination": pagination,
                "data": data,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.pagination import Pagination  # noqa: PLC0415
        from ..models.webhook_delivery import WebhookDelivery  # noqa: PLC0415

        d = dict(src_dict)
        pagination = Pagination.from_dict(d.pop("pagination"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = WebhookDelivery.from_dict(data_item_data)

            data.append(data_item)

        list_webhook_deliveries_response_200 = cls(
            pagination=pagination,
            data=data,
        )

        return list_webhook_deliveries_response_200
