from typing import Literal, cast

LogEntryOutcome = Literal["denied", "failed", "success"]


def check_log_entry_outcome(value: str) -> LogEntryOutcome:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(LogEntryOutcome, value)
