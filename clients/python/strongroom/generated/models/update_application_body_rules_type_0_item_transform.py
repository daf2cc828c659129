from typing import Literal, cast

UpdateApplicationBodyRulesType0ItemTransform = Literal["mask", "redact", "reveal"]


def check_update_application_body_rules_type_0_item_transform(
    value: str,
) -> UpdateApplicationBodyRulesType0ItemTransform:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(UpdateApplicationBodyRulesType0ItemTransform, value)
