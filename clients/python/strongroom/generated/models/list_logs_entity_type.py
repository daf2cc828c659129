from typing import Literal, cast

ListLogsEntityType = Literal["application", "key", "log", "report", "service", "tenant", "token", "webhook"]


def check_list_logs_entity_type(value: str) -> ListLogsEntityType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ListLogsEntityType, value)
