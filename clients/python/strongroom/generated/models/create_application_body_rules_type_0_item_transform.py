from typing import Literal, cast

CreateApplicationBodyRulesType0ItemTransform = Literal["mask", "redact", "reveal"]


def check_create_application_body_rules_type_0_item_transform(
    value: str,
) -> CreateApplicationBodyRulesType0ItemTransform:
    """Passes on values that a newer service may return but this version does not know."""
    return cast(CreateApplicationBodyRulesType0ItemTransform, value)
