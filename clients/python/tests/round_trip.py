"""Calls every operation of a real service, and checks what each returns."""

import os
import unittest
from typing import Any, assert_type

from strongroom import Strongroom, StrongroomError
from strongroom.models import (
    CreateApplicationBody,
    CreateTokenBody,
    CreateWebhookBody,
    DeleteTenantBody,
    DeleteTokensBody,
    ListTokensMetadataFilter,
    RotateWebhookSecretBody,
    SearchTokensBody,
    SearchTokensV2Body,
    Token,
    UpdateApplicationBody,
    UpdateTenantBody,
    UpdateTokenBody,
    UpdateTokenBodyMetadataType0,
    UpdateWebhookBody,
)

address = os.environ["STRONGROOM_ADDRESS"]
etags: list[str | None] = []


class RoundTrip(unittest.TestCase):
    vault: Strongroom
    manager: Strongroom

    @classmethod
    def setUpClass(cls) -> None:
        cls.vault = Strongroom(
            address,
            os.environ["STRONGROOM_API_KEY"],
            on_response=lambda operation, status, headers: etags.append(headers.get("etag")),
        )
        cls.manager = Strongroom(address, os.environ["STRONGROOM_MANAGEMENT_KEY"])
        cls.addClassCleanup(cls.vault.close)
        cls.addClassCleanup(cls.manager.close)

    def fails(self, code: str, status: int) -> "Failing":
        return Failing(self, code, status)

    def test_1_tokens(self) -> None:
        """stores, reads, changes and deletes tokens"""
        vault = self.vault
        number = "4242424242424242"
        data = {"number": number, "expiration_month": 12, "expiration_year": 2030, "cvc": "123"}
        card = vault.create_token(body=CreateTokenBody(type_="card", data=data))
        stored: Any = vault.get_token(card.id).data
        self.assertEqual((stored["number"], stored["cvc"]), (number, "123"))
        self.assertNotIn(number, repr(vault.get_token(card.id)))
        first = etags[-1]
        assert first is not None
        vault.purge_cvc(card.id)
        stored = vault.get_token(card.id).data
        self.assertNotIn("cvc", stored)
        metadata = UpdateTokenBodyMetadataType0.from_dict({"customer": "c-18"})
        with self.fails("precondition_failed", 412):
            vault.update_token(card.id, body=UpdateTokenBody(metadata=metadata), if_match=first)
        vault.update_token(card.id, body=UpdateTokenBody(metadata=metadata))
        for customer, ids in (("c-18", [card.id]), ("c-17", [])):
            filters = ListTokensMetadataFilter.from_dict({"metadata.customer": customer})
            self.assertEqual([token.id for token in vault.list_tokens(metadata_filter=filters).data], ids)
        self.assertGreater(len(vault.token_history(card.id).data), 2)
        vault.delete_token(card.id)
        with self.fails("token_not_found", 404):
            vault.get_token(card.id)

    def test_2_many_tokens(self) -> None:
        """tokenizes, detokenizes and deletes many tokens"""
        made = self.vault.tokenize(body={"name": {"type": "token", "data": "Ada"}})
        text = self.vault.detokenize(body={"text": f"Dear {{{{ {made['name']['id']} }}}}"})
        self.assertEqual(text, {"text": "Dear Ada"})
        self.vault.delete_tokens(body=DeleteTokensBody(ids=[made["name"]["id"]]))
        with self.fails("token_not_found", 404):
            self.vault.get_token(made["name"]["id"])

    def test_3_iteration(self) -> None:
        """iterates over version 1 pages and version 2 cursors, in queries and bodies"""
        vault = self.vault
        made = [vault.create_token(body=CreateTokenBody(type_="token", data=number)).id for number in range(5)][::-1]
        # A type checker knows the type of the items.
        assert_type(next(vault.iterate(vault.list_tokens_v2)), Token)
        for pages in (
            vault.iterate(vault.list_tokens, size=2),
            vault.iterate(vault.list_tokens_v2, size=2),
            vault.iterate(vault.search_tokens, body=SearchTokensBody(query="type:token", size=2)),
            vault.iterate(vault.search_tokens_v2, body=SearchTokensV2Body(query="type:token", size=2)),
        ):
            self.assertEqual([token.id for token in pages], made)
        self.assertEqual([token.id for token in vault.iterate(vault.list_tokens, size=2, page=2)], made[2:])
        self.assertEqual(list(vault.iterate(vault.search_tokens, body=SearchTokensBody(query="type:card"))), [])
        self.assertTrue(vault.search_suggestions(prefix="typ").suggestions)
        with self.assertRaises(StrongroomError):
            next(vault.iterate(vault.get_tenant))  # type: ignore[arg-type]

    def test_4_idempotency(self) -> None:
        """a retry with the same idempotency key changes nothing"""
        body = CreateTokenBody(type_="token", data="once")
        first = self.vault.create_token(body=body, service_idempotency_key="once")
        self.assertEqual(self.vault.create_token(body=body, service_idempotency_key="once").id, first.id)
        self.assertNotEqual(self.vault.create_token(body=body).id, first.id)

    def test_5_management(self) -> None:
        """manages applications, keys and the tenant"""
        manager = self.manager
        self.assertEqual(self.vault.get_own_application().name, "all")
        body = CreateApplicationBody(name="shop", type_="private", permissions=["token:read"])
        made = manager.create_application(body=body)
        self.assertRegex(str(made.key), "^sr_private_")
        self.assertNotIn(str(made.key), repr(made))
        self.assertEqual(manager.get_application(made.id).name, "shop")
        changed = UpdateApplicationBody(name="store", permissions=["token:read"])
        self.assertEqual(manager.update_application(made.id, body=changed).name, "store")
        issued = manager.issue_key(made.id)
        self.assertIn(issued.id, [key.id for key in manager.list_keys(made.id)])
        manager.revoke_key(made.id, issued.id)
        self.assertIn(made.id, [one.id for one in manager.iterate(manager.list_applications, size=1)])
        manager.delete_application(made.id)
        with self.fails("application_not_found", 404):
            manager.get_application(made.id)
        self.assertGreater(len(manager.list_permissions()), 5)
        self.assertEqual(manager.update_tenant(body=UpdateTenantBody(name="renamed")).name, "renamed")
        self.assertEqual(manager.get_tenant().name, "renamed")
        manager.usage_report()

    def test_5_webhooks(self) -> None:
        """manages webhooks"""
        manager = self.manager
        url = "https://receiver.invalid/hook"
        made = manager.create_webhook(body=CreateWebhookBody(url=url, event_types=["token.deleted"]))
        self.assertRegex(made.secret, "^whsec_")
        self.assertNotIn(made.secret, repr(made))
        self.assertEqual(manager.get_webhook(made.id).url, url)
        self.assertEqual([one.id for one in manager.iterate(manager.list_webhooks, size=1)], [made.id])
        changed = UpdateWebhookBody(url=url, event_types=["token.expired"], enabled=False)
        self.assertFalse(manager.update_webhook(made.id, body=changed).enabled)
        rotated = manager.rotate_webhook_secret(made.id, body=RotateWebhookSecretBody())
        self.assertNotEqual(rotated.secret, made.secret)
        self.assertEqual(manager.test_webhook(made.id).outcome, "failed")
        self.assertEqual(manager.list_webhook_deliveries(made.id).data, [])
        manager.delete_webhook(made.id)
        with self.fails("webhook_not_found", 404):
            manager.get_webhook(made.id)

    def test_6_logs_and_service(self) -> None:
        """reads the logs and the service's own descriptions"""
        self.assertGreater(len(list(self.manager.iterate(self.manager.list_logs, size=100))), 10)
        total = self.manager.list_logs(size=1).pagination.total_items
        # Reading each page adds an entry, which must not make a later page repeat one.
        self.assertEqual(len(list(self.manager.iterate(self.manager.list_logs, size=5))), total + 1)
        self.manager.list_checkpoints()
        self.assertEqual(self.vault.is_live().status, "live")
        self.assertEqual(self.vault.is_ready().status, "ready")
        self.assertIn("token_not_found", self.vault.explain_error("token_not_found"))
        self.assertEqual(self.vault.describe_service().to_dict()["openapi"], "3.1.0")
        self.assertIn("<html", self.vault.show_reference())
        self.assertIn("{", self.vault.show_style())
        self.assertIn("{", self.vault.show_script())

    def test_7_errors(self) -> None:
        """an invalid request raises an error with code, status, fields and trace id"""
        with self.assertRaises(StrongroomError) as caught:
            self.vault.create_token(body=CreateTokenBody(type_="card", data="x"), service_trace_id="trace-of-mine")
        error = caught.exception
        self.assertEqual((error.code, error.status, error.trace_id), ("validation_failed", 400, "trace-of-mine"))
        self.assertTrue(error.errors)
        with self.fails("permission_missing", 403):
            self.vault.get_tenant()

    def test_8_end(self) -> None:
        """deletes the tenant"""
        self.manager.delete_tenant(body=DeleteTenantBody(name="renamed"))
        with self.fails("unauthenticated", 401):
            self.manager.get_tenant()


class Failing:
    """Expects StrongroomError with a code and a status."""

    def __init__(self, case: unittest.TestCase, code: str, status: int) -> None:
        self._case = case
        self._expected = (code, status)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        assert isinstance(error, StrongroomError), f"{error!r} instead of {self._expected}"
        self._case.assertEqual((error.code, error.status), self._expected)
        return True


if __name__ == "__main__":
    unittest.main(verbosity=2)
