from typing import Literal, cast

LogEntryOutcome = Literal["denied", "failed", "success"]


def check_log_entry_outcome(value: str) -> LogEntryOutcome:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(LogEntryOutcome, value)
