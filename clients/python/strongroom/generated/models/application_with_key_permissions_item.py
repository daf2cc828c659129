from typing import Literal, cast

ApplicationWithKeyPermissionsItem = Literal[
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


def check_application_with_key_permissions_item(value: str) -> ApplicationWithKeyPermissionsItem:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(ApplicationWithKeyPermissionsItem, value)
