from collections.abc import Callable
from typing import Any, TypeVar

import httpx

T = TypeVar("T")


class Sender:
    """Sends the requests of the operations."""

    def send(
        self,
        operation: str,
        build: Callable[[], dict[str, Any]],
        parse: Callable[[httpx.Response], T],
        *,
        status: int,
        is_json: bool,
        takes_idempotency_key: bool,
        is_repeatable: bool,
    ) -> T:
        """Returns the parsed body of the response with this status. Raises StrongroomError for any other outcome."""
        raise NotImplementedError
