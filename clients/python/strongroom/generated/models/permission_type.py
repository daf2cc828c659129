from typing import Literal, cast

PermissionType = Literal[
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


def check_permission_type(value: str) -> PermissionType:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(PermissionType, value)
