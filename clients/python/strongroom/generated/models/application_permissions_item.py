from typing import Literal, cast

ApplicationPermissionsItem = Literal[
    "application:create",
    "application:delete",
    "application:read",
    "application:update",
    "log:read",
    "report:read",
    "tenant:delete",
    "tenant:read",
    "tenant:update",
    "token:create",
    "token:delete",
    "token:read",
    "token:search",
    "token:update",
    "token:use",
    "webhook:create",
    "webhook:delete",
    "webhook:read",
    "webhook:update",
]


def check_application_permissions_item(value: str) -> ApplicationPermissionsItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ApplicationPermissionsItem, value)
