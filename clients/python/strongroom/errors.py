"""The client's error class."""

from collections.abc import Mapping


class StrongroomError(Exception):
    """The client's only exception. ``code`` is stable; the message is for people. Neither contains the API key.

    ``code`` is the ``code`` of a problem that the service returned, or one of ``invalid_argument``, ``timeout``,
    ``connection_failed``, ``unexpected_response`` (the response is not a valid response from Strongroom) and
    ``not_modified`` (the entity tag in ``if_none_match`` is still current).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        title: str | None = None,
        errors: Mapping[str, list[str]] | None = None,
        trace_id: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        # A copy of an exception, such as one from another process, is created from these arguments.
        super().__init__(code, message)
        self.code = code
        self.message = message
        #: The HTTP status, or None if there was no response.
        self.status = status
        self.title = title
        #: Messages by the JSON path of each invalid field.
        self.errors = dict(errors or {})
        self.trace_id = trace_id
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        # A traceback shows no other attributes.
        fields = "".join(f" {field}: {message}." for field, messages in self.errors.items() for message in messages)
        return f"{self.message} ({self.code}){fields}"
