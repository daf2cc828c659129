from typing import Literal, cast

AccessRuleTransform = Literal["mask", "redact", "reveal"]


def check_access_rule_transform(value: str) -> AccessRuleTransform:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(AccessRuleTransform, value)
