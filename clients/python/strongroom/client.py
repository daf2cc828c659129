"""Sends the requests of the generated operations (``generated/api``)."""

import inspect
import ipaddress
import json
import random
import re
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, ParamSpec, Protocol, Self, TypeVar

import attrs
import httpx

from .errors import StrongroomError
from .generated.api import applications, logs, search, service, tenants, tokenization, tokens, webhooks
from .generated.types import Unset

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")


class Page(Protocol[Item]):
    """A page that an operation returns."""

    data: list[Item]


_API_KEY = re.compile(r"sr_(?:private|public|management)_[0-9A-Za-z]{49}")
_TRANSIENT_CODES = {"timeout", "connection_failed", "idempotency_in_flight"}
_TRANSIENT_STATUSES = {429, 502, 503, 504}


class Strongroom(
    tokens.Operations,
    search.Operations,
    tokenization.Operations,
    applications.Operations,
    webhooks.Operations,
    tenants.Operations,
    logs.Operations,
    service.Operations,
):
    """A client for the service at ``address``, with one method for each operation in the OpenAPI document.

    Raises StrongroomError (``invalid_argument``), before anything is sent, if the key is not an API key or would cross
    a network in plaintext. Threads may share a client.

    Args:
        address: The address of the service, such as ``https://vault.example.com``.
        api_key: An API key (``sr_...``). The client keeps it out of errors and of its ``repr``.
        timeout_seconds: The limit for each network wait of an attempt, and for reading the whole response body.
        retries_max: The maximum number of retries of a request that is safe to retry.
        retry_delay_seconds_max: The longest wait before a retry.
        response_bytes_max: The maximum size of a response.
        allow_plaintext_http: Whether to send the key and the data without TLS to another machine.
        tls: The TLS context. Default: one that trusts the authorities of the package ``certifi``.
        on_response: Called with the operation name, the status and the headers of each response.
        wait: Waits before a retry. Tests replace this function.
    """

    def __init__(
        self,
        address: str,
        api_key: str,
        *,
        timeout_seconds: float = 30,
        retries_max: int = 2,
        retry_delay_seconds_max: float = 30,
        response_bytes_max: int = 128 * 1024 * 1024,
        allow_plaintext_http: bool = False,
        tls: ssl.SSLContext | None = None,
        on_response: Callable[[str, int, httpx.Headers], None] | None = None,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        url = _safe_address(address, allow_plaintext_http)
        if _API_KEY.fullmatch(api_key) is None:
            raise StrongroomError("invalid_argument", "api_key is not an API key (sr_...). Nothing was sent.")
        # A socket cannot wait for longer.
        if not 0 < timeout_seconds <= 2_147_483:
            raise StrongroomError("invalid_argument", "timeout_seconds must be more than 0 and at most 2147483.")
        self._origin = f"{url.scheme}://{url.netloc.decode()}"
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._retries_max = retries_max
        self._retry_delay_seconds_max = retry_delay_seconds_max
        self._response_bytes_max = response_bytes_max
        self._on_response = on_response
        self._wait = wait
        self._http = httpx.Client(
            base_url=url,
            headers={"accept-encoding": "identity"},
            timeout=timeout_seconds,
            # Threat: a redirect or a proxy from the environment would send the key to another server.
            follow_redirects=False,
            trust_env=False,
            verify=True if tls is None else tls,
        )

    def __repr__(self) -> str:
        return f"Strongroom({self._origin!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def iterate(self, operation: Callable[P, Page[Item]], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[Item]:
        """Yields the items of all pages, starting at the page in the arguments, or else at the first page.

        ``vault.iterate(vault.list_tokens_v2, container="/pci/")``
        """
        parameters = inspect.signature(operation).parameters
        call: Callable[..., Any] = operation
        given: dict[str, Any] = dict(kwargs)
        body: Any = given.get("body")
        places = parameters if body is None else {field.name: field for field in attrs.fields(type(body))}
        name = next((name for name in ("page", "start") if name in places), None)
        if name is None:
            raise StrongroomError("invalid_argument", "The operation does not return pages.")
        seen: set[object] = set()
        at: Any = None
        previous: Any = None
        has_end_date = "end_date" in parameters
        while True:
            if at is not None:
                change = {name: at}
                given = {**given, **({"body": attrs.evolve(body, **change)} if places is not parameters else change)}
            page = call(*args, **given)
            yield from page.data[_repeated_items(page, previous) :] if has_end_date else page.data
            if has_end_date and previous is None and not args:
                given = _with_end_date(given, page.data)
            previous = page
            at = page.pagination.next_ if name == "start" else _next_number(page)
            if at is None or isinstance(at, Unset):
                return
            # Threat: a faulty server could keep the caller in an endless loop.
            if at in seen:
                raise StrongroomError("unexpected_response", "The service returned the same position twice.")
            seen.add(at)

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
        request = self._built(operation, build)
        headers = {"accept": "application/json, application/problem+json, */*;q=0.1", **request.get("headers", {})}
        if takes_idempotency_key:
            # All attempts use one key, so the service makes the change only once.
            headers.setdefault("SERVICE-IDEMPOTENCY-KEY", str(uuid.uuid4()))
        headers["SERVICE-API-KEY"] = self._api_key
        retries = 0
        while True:
            try:
                response = self._attempt(operation, {**request, "headers": headers})
                self._check(operation, response, status, is_json)
                return self._parsed(operation, response, parse)
            except StrongroomError as error:
                delay = _retry_delay_seconds(error, retries)
                if not is_repeatable or retries >= self._retries_max or delay is None:
                    raise
                if delay > self._retry_delay_seconds_max:
                    raise
            self._wait(delay)
            retries += 1

    def _built(self, operation: str, build: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        failure: StrongroomError
        try:
            return build()
        except AttributeError:
            failure = StrongroomError(
                "invalid_argument",
                f"{operation}: an argument must be a model, not a dict. Create the model with from_dict, "
                "such as CreateTokenBody.from_dict({...}). Nothing was sent.",
            )
        # Raised outside the handler, because the AttributeError contains the dict, which may be data.
        raise failure

    def _attempt(self, operation: str, request: dict[str, Any]) -> httpx.Response:
        if self._http.is_closed:
            raise StrongroomError("invalid_argument", f"{operation}: the client is closed. Nothing was sent.")
        failure: StrongroomError
        try:
            sent = self._http.build_request(**request)
        except (TypeError, ValueError):
            failure = StrongroomError(
                "invalid_argument",
                f"{operation}: a header is not valid text, or JSON cannot represent a value in the body, "
                "such as NaN or a datetime. Nothing was sent.",
            )
        else:
            return self._exchange(operation, sent)
        # Raised outside the handler, because the encoder's exception may contain data.
        raise failure

    def _exchange(self, operation: str, request: httpx.Request) -> httpx.Response:
        """Returns the response with its whole body."""
        deadline = time.monotonic() + self._timeout_seconds
        failure: StrongroomError
        try:
            with closing(self._http.send(request, stream=True)) as stream:
                if self._on_response is not None:
                    self._on_response(operation, stream.status_code, stream.headers)
                content = self._content(operation, stream, deadline)
                return httpx.Response(stream.status_code, headers=stream.headers, content=content)
        except httpx.TimeoutException:
            failure = self._timed_out(operation)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            reason = self._without_key(str(error))
            failure = StrongroomError("connection_failed", f"The connection to {self._origin} failed: {reason}")
        # Raised outside the handlers, because the httpx exception contains the request with the key.
        raise failure

    def _content(self, operation: str, response: httpx.Response, deadline: float) -> bytes:
        """Returns the body, within limits. Threat: an endless response would exhaust memory or never finish.

        Does not decompress the body, because httpx decompresses each chunk at once, and a few KB can become gigabytes.
        """
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self._unexpected(operation, response, "is compressed, which the client does not accept")
        content = bytearray()
        for chunk in response.iter_raw():
            content += chunk
            if len(content) > self._response_bytes_max:
                raise self._unexpected(operation, response, f"is larger than {self._response_bytes_max} bytes")
            if time.monotonic() > deadline:
                raise self._timed_out(operation)
        return bytes(content)

    def _check(self, operation: str, response: httpx.Response, status: int, is_json: bool) -> None:
        """Raises StrongroomError if the response is a problem or did not come from Strongroom."""
        media_type = response.headers.get("content-type", "").split(";")[0].strip()
        # Every Strongroom response has a trace id; other servers do not send this header.
        if "service-trace-id" not in response.headers:
            raise self._unexpected(operation, response, "did not come from Strongroom")
        if media_type == "application/problem+json":
            raise self._problem(operation, response, self._json(operation, response))
        if response.status_code == 304:
            message = f"{operation}: the entity tag is still current."
            raise StrongroomError("not_modified", message, **self._head(response))
        # Another server may return 200 for a delete although it deleted nothing.
        if response.status_code != status:
            raise self._unexpected(operation, response, f"should have status {status}")
        if is_json and media_type != "application/json":
            raise self._unexpected(operation, response, "has an unexpected media type")

    def _parsed(self, operation: str, response: httpx.Response, parse: Callable[[httpx.Response], T]) -> T:
        failure: StrongroomError
        try:
            return parse(response)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            failure = self._unexpected(operation, response, "does not have the expected fields")
        # Raised outside the handler, because the parser's exception may contain data.
        raise failure

    def _json(self, operation: str, response: httpx.Response) -> Any:
        failure: StrongroomError
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError):
            failure = self._unexpected(operation, response, "is not JSON")
        # Raised outside the handler, because the parser's exception contains the text, which may be data.
        raise failure

    def _problem(self, operation: str, response: httpx.Response, body: Any) -> StrongroomError:
        problem = body if isinstance(body, dict) else {}
        code, title, detail = problem.get("code"), problem.get("title"), problem.get("detail")
        if not isinstance(code, str) or not isinstance(title, str):
            return self._unexpected(operation, response, "is not a valid problem document")
        fields = problem.get("errors")
        errors = fields if isinstance(fields, dict) else {}
        return StrongroomError(
            self._without_key(code),
            self._without_key(detail if isinstance(detail, str) else title),
            title=self._without_key(title),
            errors={
                self._without_key(field): [
                    self._without_key(str(text)) for text in (messages if isinstance(messages, list) else [messages])
                ]
                for field, messages in errors.items()
            },
            **self._head(response),
        )

    def _unexpected(self, operation: str, response: httpx.Response, what: str) -> StrongroomError:
        status = response.status_code
        message = f"The response from {self._origin} to {operation} (status {status}) {what}."
        if 300 <= status < 400 and status != 304:
            message = f"{self._origin} redirects {operation} to another address. The client does not follow redirects."
        return StrongroomError("unexpected_response", message, **self._head(response))

    def _timed_out(self, operation: str) -> StrongroomError:
        return StrongroomError(
            "timeout", f"{self._origin} did not respond to {operation} within {self._timeout_seconds} s."
        )

    def _head(self, response: httpx.Response) -> dict[str, Any]:
        trace_id = response.headers.get("service-trace-id")
        return {
            "status": response.status_code,
            "trace_id": None if trace_id is None else self._without_key(trace_id),
            "retry_after_seconds": _seconds(response.headers.get("retry-after")),
        }

    def _without_key(self, text: str) -> str:
        """Removes the API key from text. Threat: if a server echoed the request, the key would end up in logs."""
        return text.replace(self._api_key, "sr_...")


def _safe_address(address: str, allow_plaintext_http: bool) -> httpx.URL:
    """Raises StrongroomError if the key must not be sent to the address."""
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or url.host == "" or url.userinfo or url.query or url.fragment:
        raise StrongroomError(
            "invalid_argument",
            "address must be the http or https address of a service, such as https://vault.example.com.",
        )
    if url.scheme == "http" and not _is_loopback(url.host) and not allow_plaintext_http:
        raise StrongroomError(
            "invalid_argument",
            f"{url.host} would receive the API key and the data in plaintext. Use https:. Nothing was sent.",
        )
    return url


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _repeated_items(page: Any, previous: Any) -> int:
    """Returns how many items at the start of a page are the last ones of the previous page.

    Items that were added at the top in between, such as the entry for the read of the previous page, shift all items
    down.
    """
    if previous is None:
        return 0
    added = page.pagination.total_items - previous.pagination.total_items
    repeated: int = min(max(added, 0), len(page.data))
    while repeated > 0 and page.data[:repeated] != previous.data[-repeated:]:
        repeated -= 1
    return repeated


def _with_end_date(given: dict[str, Any], data: list[Any]) -> dict[str, Any]:
    """Excludes entries that are recorded after the newest one of the first page, so that they shift no later page.

    Uses the service's clock, because this machine's clock may differ.
    """
    end_date = given.get("end_date")
    if not data or given.get("page", 1) != 1 or not (end_date is None or isinstance(end_date, Unset)):
        return given
    newest: datetime = data[0].created_at
    return {**given, "end_date": (newest + timedelta(milliseconds=1)).isoformat()}


def _next_number(page: Any) -> int | None:
    at: int = page.pagination.page_number
    return at + 1 if page.data and at < page.pagination.total_pages else None


def _retry_delay_seconds(error: StrongroomError, retries: int) -> float | None:
    """Returns how long to wait before sending the request again, or None if another attempt would not help."""
    if error.code not in _TRANSIENT_CODES and error.status not in _TRANSIENT_STATUSES:
        return None
    # Jitter keeps clients that failed together from retrying together.
    backoff: float = random.random() * min(8.0, 0.25 * 2.0**retries)
    return backoff + (error.retry_after_seconds or 0)


def _seconds(retry_after: str | None) -> int | None:
    """Returns the number of seconds in a ``Retry-After`` header, which contains a number or a date."""
    if retry_after is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", retry_after):
        return int(retry_after)
    try:
        at = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0, round((at - datetime.now(UTC)).total_seconds()))
