"""Calls a server that misbehaves towards its clients (test/clients/hostile-server.ts)."""

import copy
import json
import os
import pickle
import traceback
import unittest
import urllib.request
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from strongroom import Strongroom, StrongroomError
from strongroom.models import (
    CreateApplicationBody,
    CreateTokenBody,
    ListTokensMetadataFilter,
    ListTokensV2MetadataFilter,
)

address = os.environ["HOSTILE_ADDRESS"]
API_KEY = "sr_private_" + "k" * 49
waits: list[float] = []


def client(behavior: str, timeout_seconds: float = 5) -> Strongroom:
    """Returns a client for the server's behavior with this name. The client records its retry delays in ``waits``."""
    waits.clear()
    return Strongroom(
        f"{address}/{behavior}/",
        API_KEY,
        timeout_seconds=timeout_seconds,
        response_bytes_max=4 * 1024 * 1024,
        wait=waits.append,
    )


def requests(behavior: str) -> list[Any]:
    """Returns the requests to a behavior since the previous call for it."""
    with urllib.request.urlopen(f"{address}/-/{behavior}") as response:
        seen = json.load(response)
        assert isinstance(seen, list)
        return seen


def get(vault: Strongroom) -> Any:
    return vault.get_token("t1")


def create(vault: Strongroom) -> Any:
    return vault.create_token(body=CreateTokenBody(type_="token", data=1))


def remove(vault: Strongroom) -> Any:
    return vault.delete_token("t1")


class Hostile(unittest.TestCase):
    def failure(self, call: Callable[[Strongroom], Any], vault: Strongroom) -> StrongroomError:
        with vault, self.assertRaises(StrongroomError) as caught:
            call(vault)
        error = caught.exception
        shown = f"{error!r} {vars(error)} {error.__cause__!r} {error.__context__!r}"
        self.assertNotIn(API_KEY, shown + "".join(traceback.format_exception(error)))
        # Error reports include these, which would lead to the request with the key, or to data.
        self.assertIsNone(error.__cause__)
        self.assertIsNone(error.__context__)
        return error

    def test_wrong_servers(self) -> None:
        """each wrong response raises an error, and a delete is not retried"""
        for behavior, code in (
            ("silent", "timeout"),
            ("drip", "timeout"),
            ("redirect", "unexpected_response"),
            ("megabytes", "unexpected_response"),
            ("page", "unexpected_response"),
            ("stranger", "unexpected_response"),
            ("garbage", "unexpected_response"),
            ("broken", "connection_failed"),
        ):
            with self.subTest(behavior):
                # On a busy machine, a server that responds could exceed a short limit.
                limit = 0.3 if code == "timeout" else 5
                self.assertEqual(self.failure(remove, client(behavior, limit)).code, code)
                self.assertEqual(len(requests(behavior)), 1)

    def test_wrong_contents(self) -> None:
        """a response with the right status but wrong contents raises an error"""
        for behavior in ("redirect", "megabytes", "page", "stranger", "garbage", "deep", "shapeless"):
            with self.subTest(behavior):
                error = self.failure(get, client(behavior))
                self.assertEqual(error.code, "unexpected_response")
                # We remove the address, because its port may contain the same digits.
                self.assertNotIn("4242", str(error).replace(address, ""))
                self.assertEqual(len(requests(behavior)), 1)
        self.assertEqual(requests("thief"), [])

    def test_compressed(self) -> None:
        """the client does not decompress a response, because a small one could exhaust memory"""
        error = self.failure(get, client("compressed"))
        self.assertEqual(error.code, "unexpected_response")
        self.assertIn("is compressed", str(error))

    def test_retries(self) -> None:
        """a get and a create are attempted three times, and all attempts of a create have the same idempotency key"""
        for behavior in ("silent", "broken"):
            self.failure(get, client(behavior, 0.2))
            self.assertEqual(len(requests(behavior)), 3)
            self.failure(create, client(behavior, 0.2))
            keys = [request["idempotencyKey"] for request in requests(behavior)]
            self.assertEqual(len(keys), 3)
            self.assertEqual(len(set(keys)), 1)
            self.assertRegex(keys[0], "^[0-9a-f-]{36}$")

    def test_issued_keys(self) -> None:
        """an operation that issues an API key is sent once, because the response to a retry has no key"""
        body = CreateApplicationBody(name="shop", type_="private")
        for behavior in ("silent", "broken", "busy"):
            self.failure(methodcaller("create_application", body=body), client(behavior, 0.2))
            self.failure(methodcaller("issue_key", "a1"), client(behavior, 0.2))
            self.assertEqual(len(requests(behavior)), 2)

    def test_not_modified(self) -> None:
        """a token that has not changed is reported as not_modified"""
        error = self.failure(methodcaller("get_token", "t1", if_none_match='"1"'), client("unchanged"))
        self.assertEqual((error.code, error.status, error.trace_id), ("not_modified", 304, "trace-1"))

    def test_copies(self) -> None:
        """an error that is copied or comes from another process is the same error"""
        error = self.failure(get, client("patient"))
        self.assertEqual(len(requests("patient")), 1)
        error.add_note("note")
        for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            self.assertIsInstance(other, StrongroomError)
            self.assertEqual(str(other), str(error))
            self.assertEqual(vars(other), vars(error))

    def test_text(self) -> None:
        """the text of an error, which a traceback shows, names the invalid fields"""
        error = StrongroomError("validation_failed", "Not valid.", errors={"data.number": ["is required"]})
        self.assertEqual(str(error), "Not valid. (validation_failed) data.number: is required.")

    def test_key_in_problem(self) -> None:
        """if a problem quotes the key, the error does not contain it"""
        error = self.failure(get, client("echo"))
        self.assertEqual((error.code, error.message), ("malformed_body", "Got sr_...."))

    def test_nested_problem(self) -> None:
        """a problem that is nested too deeply raises an error"""
        self.assertEqual(self.failure(get, client("invalid")).code, "unexpected_response")

    def test_retry_after(self) -> None:
        """Retry-After is honored, within bounds and with jitter"""
        with client("limited") as vault:
            self.assertEqual(get(vault).id, "t1")
        self.assertEqual(len(waits), 1)
        self.assertTrue(3 <= waits[0] < 3.3, waits)
        self.assertEqual(self.failure(get, client("busy")).code, "store_unavailable")
        self.assertEqual(len(requests("busy")), 3)
        self.assertEqual(len(set(waits)), 2)
        self.assertEqual(self.failure(get, client("eternal")).code, "store_unavailable")
        self.assertEqual(self.failure(remove, client("busy")).status, 503)
        self.assertEqual(len(requests("busy")), 1)
        error = self.failure(get, client("patient"))
        self.assertEqual((error.code, error.retry_after_seconds), ("guesses_exhausted", 86_400))
        self.assertEqual(len(requests("patient")), 1)

    def test_loop(self) -> None:
        """a repeated cursor ends the iteration with an error"""
        seen: list[str] = []

        def read(vault: Strongroom) -> None:
            for token in vault.iterate(vault.list_tokens_v2):
                seen.append(token.id)

        self.assertEqual(self.failure(read, client("loop")).code, "unexpected_response")
        self.assertEqual(seen, ["t1", "t1"])

    def test_arguments_of_iterate(self) -> None:
        """iterate accepts every argument of the operation, even if it is called operation"""
        with client("loop") as vault, self.assertRaises(StrongroomError):
            list(vault.iterate(vault.list_logs, operation="create", page=2))
        self.assertEqual([request["query"] for request in requests("loop")], ["?page=2&operation=create"])

    def test_filters(self) -> None:
        """a filter that the service would ignore or misunderstand is not sent"""
        for members in ({"customer": "c-17"}, {"metadata.": "c-17"}, {"metadata.customer": None}):
            filters = ListTokensMetadataFilter.from_dict(members)
            self.rejects(methodcaller("list_tokens", metadata_filter=filters))
            others = ListTokensV2MetadataFilter.from_dict(members)
            self.rejects(methodcaller("list_tokens_v2", metadata_filter=others))
        unnamed = ListTokensMetadataFilter.from_dict({"customer": "c-17"})
        error = self.failure(methodcaller("list_tokens", metadata_filter=unnamed), client("stranger"))
        self.assertIn('metadata_filter must be "metadata." and a key, such as "metadata.customer".', error.message)
        self.rejects(methodcaller("list_tokens", type_="card"))
        self.rejects(methodcaller("list_tokens", id="t1"))

    def rejects(self, call: Callable[[Strongroom], Any]) -> None:
        self.assertEqual(self.failure(call, client("stranger")).code, "invalid_argument")
        self.assertEqual(requests("stranger"), [])

    def test_closed(self) -> None:
        """a closed client raises StrongroomError"""
        vault = client("limited")
        vault.close()
        self.assertEqual(self.failure(get, vault).code, "invalid_argument")

    def test_ids(self) -> None:
        """an id that would change the path is not sent"""
        for wrong in ("", ".", "..", "a\ud800", None, 1):
            error = self.failure(methodcaller("delete_token", wrong), client("stranger"))
            self.assertEqual(error.code, "invalid_argument")
        self.assertEqual(requests("stranger"), [])

    def test_contents(self) -> None:
        """a body that is not JSON and a header that is not text are not sent"""
        for call in (
            methodcaller("tokenize", body={"data": object()}),
            methodcaller("tokenize", body={"data": float("nan")}),
            methodcaller("get_token", "t1", if_none_match="\u20ac"),
        ):
            self.assertEqual(self.failure(call, client("stranger")).code, "invalid_argument")
        self.assertEqual(requests("stranger"), [])

    def test_models(self) -> None:
        """a dict in place of a model is not sent, and the error says how to create the model and contains no data"""
        members: Any = {"customer": "4242424242424242"}
        for call in (
            methodcaller("create_token", body=members),
            methodcaller("create_application", body=CreateApplicationBody(name="a", type_="private", rules=[members])),
            methodcaller("list_tokens", metadata_filter=members),
        ):
            error = self.failure(call, client("stranger"))
            self.assertEqual(error.code, "invalid_argument")
            self.assertIn("CreateTokenBody.from_dict({...})", error.message)
            self.assertIsNone(error.__context__)
        self.assertEqual(requests("stranger"), [])

    def test_time_limits(self) -> None:
        """the client accepts no time limit that every request would exceed, or that is too long for a socket"""
        for wrong in (0, -1, float("nan"), float("inf"), 1e10):
            with self.subTest(wrong), self.assertRaises(StrongroomError):
                client("stranger", wrong)

    def test_addresses_and_keys(self) -> None:
        """the client sends a key only over TLS or to loopback, and sends nothing that is not a key"""
        for wrong in (
            "http://vault.example.com",
            "http://127.0.0.1.example.com",
            "ftp://localhost",
            "https://user:word@vault.example.com",
            "https://vault.example.com?x=1",
            "vault",
        ):
            with self.subTest(wrong), self.assertRaises(StrongroomError):
                Strongroom(wrong, API_KEY)
        for right in ("http://localhost:1", "http://127.0.0.1", "http://[::1]:80", "https://vault.example.com/path"):
            Strongroom(right, API_KEY).close()
        Strongroom("http://vault.example.com", API_KEY, allow_plaintext_http=True).close()
        for key in ("", "sr_private_short", f"{API_KEY}\r\nx: y", "a" * 64):
            with self.subTest(key), self.assertRaises(StrongroomError) as caught:
                Strongroom(address, key)
            self.assertTrue(key == "" or key not in str(caught.exception))

    def test_proxies(self) -> None:
        """no proxy from the environment gets the key"""
        os.environ["ALL_PROXY"] = os.environ["HTTP_PROXY"] = f"{address}/thief/"
        try:
            with client("limited") as vault:
                get(vault)
        finally:
            del os.environ["ALL_PROXY"], os.environ["HTTP_PROXY"]
        self.assertEqual(requests("thief"), [])
        self.assertGreater(len(requests("limited")), 0)

    def test_repr(self) -> None:
        """the client's repr does not contain the key"""
        with client("silent") as vault:
            self.assertEqual(repr(vault), f"Strongroom({address!r})")


if __name__ == "__main__":
    unittest.main(verbosity=2)
