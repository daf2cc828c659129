from typing import Literal, cast

UpdateApplicationBodyRulesType0ItemTransform = Literal["mask", "redact", "reveal"]


def check_update_application_body_rules_type_0_item_transform(
    value: str,
) -> UpdateApplicationBodyRulesType0ItemTransform:
    """Passes values on that a newer service may return and this version does not know."""
    return cast(UpdateApplicationBodyRulesType0ItemTransform, value)
