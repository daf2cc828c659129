from typing import Any, cast

from ...client import Sender
from ...models.api_key import ApiKey
from ...models.application import Application
from ...models.application_with_key import ApplicationWithKey
from ...models.create_application_body import CreateApplicationBody
from ...models.issued_api_key import IssuedApiKey
from ...models.list_applications_response_200 import ListApplicationsResponse200
from ...models.list_applications_type_item import (
    ListApplicationsTypeItem,
    check_list_applications_type_item,
)
from ...models.list_permissions_application_type_item import (
    ListPermissionsApplicationTypeItem,
    check_list_permissions_application_type_item,
)
from ...models.permission import Permission
from ...models.update_application_body import UpdateApplicationBody
from ...types import UNSET, Unset
from . import create_application as _create_application
from . import delete_application as _delete_application
from . import get_application as _get_application
from . import get_own_application as _get_own_application
from . import issue_key as _issue_key
from . import list_applications as _list_applications
from . import list_keys as _list_keys
from . import list_permissions as _list_permissions
from . import revoke_key as _revoke_key
from . import update_application as _update_application


class Operations(Sender):
    def list_applications(
        self,
        *,
        page: int | Unset = UNSET,
        size: int | Unset = UNSET,
        id: list[str] | Unset = UNSET,
        type_: list[ListApplicationsTypeItem] | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> ListApplicationsResponse200:
        """List applications.

        Returns the tenant’s live applications that match all filters, newest first.

        Permission: `application:read`.
        """
        return self.send(
            "list_applications",
            lambda: _list_applications.request(
                page=page,
                size=size,
                id=id,
                type_=type_,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_applications.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def create_application(
        self,
        *,
        body: CreateApplicationBody,
        service_idempotency_key: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> ApplicationWithKey:
        """Create an application.

        Creates an application and its first key, which only this response shows. To create a management
        application, the caller must itself hold every permission that the new application gets.

        Permission: `application:create`.
        """
        return self.send(
            "create_application",
            lambda: _create_application.request(
                body=body,
                service_idempotency_key=service_idempotency_key,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _create_application.parse,
            status=201,
            is_json=True,
            takes_idempotency_key=True,
            is_repeatable=False,
        )

    def get_own_application(
        self,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Application:
        """Get the calling application.

        Returns the application that the request’s API key belongs to.

        Requires a valid key but no permission.
        """
        return self.send(
            "get_own_application",
            lambda: _get_own_application.request(
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _get_own_application.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def get_application(
        self,
        id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Application:
        """Get an application.

        Returns the application, without its keys.

        Permission: `application:read`.
        """
        return self.send(
            "get_application",
            lambda: _get_application.request(
                id=id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _get_application.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def update_application(
        self,
        id: str,
        *,
        body: UpdateApplicationBody,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> Application:
        """Update an application.

        Changes the name, the permissions or rules, and the expiry. The change takes effect for all of the
        application’s keys before the response is sent.

        Permission: `application:update`.
        """
        return self.send(
            "update_application",
            lambda: _update_application.request(
                id=id,
                body=body,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _update_application.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def delete_application(
        self,
        id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> None:
        """Delete an application.

        Deletes the application. Its keys stop working immediately.

        Permission: `application:delete`.
        """
        return self.send(
            "delete_application",
            lambda: _delete_application.request(
                id=id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _delete_application.parse,
            status=204,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def list_keys(
        self,
        id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> list[ApiKey]:
        """List the keys of an application.

        Returns the live keys of the application, without the keys themselves.

        Permission: `application:read`.
        """
        return self.send(
            "list_keys",
            lambda: _list_keys.request(
                id=id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_keys.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )

    def issue_key(
        self,
        id: str,
        *,
        service_idempotency_key: str | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> IssuedApiKey:
        """Issue a key.

        Issues another key for an application. Only this response shows the key. An application can have at
        most three live keys.

        Permission: `application:create`.
        """
        return self.send(
            "issue_key",
            lambda: _issue_key.request(
                id=id,
                service_idempotency_key=service_idempotency_key,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _issue_key.parse,
            status=201,
            is_json=True,
            takes_idempotency_key=True,
            is_repeatable=False,
        )

    def revoke_key(
        self,
        id: str,
        key_id: str,
        *,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> None:
        """Revoke a key.

        Revokes the key. It stops working immediately.

        Permission: `application:delete`.
        """
        return self.send(
            "revoke_key",
            lambda: _revoke_key.request(
                id=id,
                key_id=key_id,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _revoke_key.parse,
            status=204,
            is_json=False,
            takes_idempotency_key=False,
            is_repeatable=False,
        )

    def list_permissions(
        self,
        *,
        application_type: list[ListPermissionsApplicationTypeItem] | Unset = UNSET,
        service_trace_id: str | Unset = UNSET,
        service_person: str | Unset = UNSET,
        service_reason: str | Unset = UNSET,
    ) -> list[Permission]:
        """List permissions.

        Returns all permissions, or only those that an application of one of the given types may hold.

        Requires a valid key but no permission.
        """
        return self.send(
            "list_permissions",
            lambda: _list_permissions.request(
                application_type=application_type,
                service_trace_id=service_trace_id,
                service_person=service_person,
                service_reason=service_reason,
            ),
            _list_permissions.parse,
            status=200,
            is_json=True,
            takes_idempotency_key=False,
            is_repeatable=True,
        )
