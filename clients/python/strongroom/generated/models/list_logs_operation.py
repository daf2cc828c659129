from typing import Literal, cast

ListLogsOperation = Literal[
    "create",
    "delete",
    "expiry",
    "loss",
    "purge",
    "read",
    "reveal",
    "rotation",
    "sign_in",
    "sign_out",
    "start",
    "stop",
    "update",
]


def check_list_logs_operation(value: str) -> ListLogsOperation:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListLogsOperation, value)
