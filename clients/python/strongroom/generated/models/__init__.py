"""Contains all the data models used in inputs/outputs"""

from .access_rule import AccessRule
from .access_rule_permissions_item import AccessRulePermissionsItem
from .access_rule_transform import AccessRuleTransform
from .api_key import ApiKey
from .application import Application
from .application_permissions_item import ApplicationPermissionsItem
from .application_type import ApplicationType
from .application_with_key import ApplicationWithKey
from .application_with_key_permissions_item import ApplicationWithKeyPermissionsItem
from .application_with_key_type import ApplicationWithKeyType
from .checkpoint import Checkpoint
from .create_application_body import CreateApplicationBody
from .create_application_body_rules_type_0_item import (
    CreateApplicationBodyRulesType0Item,
)
from .create_application_body_rules_type_0_item_permissions_item import (
    CreateApplicationBodyRulesType0ItemPermissionsItem,
)
from .create_application_body_rules_type_0_item_transform import (
    CreateApplicationBodyRulesType0ItemTransform,
)
from .create_application_body_type import CreateApplicationBodyType
from .create_token_body import CreateTokenBody
from .create_token_body_metadata_type_0 import CreateTokenBodyMetadataType0
from .create_token_body_type import CreateTokenBodyType
from .create_webhook_body import CreateWebhookBody
from .delete_tenant_body import DeleteTenantBody
from .delete_tokens_body import DeleteTokensBody
from .delete_tokens_response_200 import DeleteTokensResponse200
from .describe_service_response_200 import DescribeServiceResponse200
from .describe_service_response_200_paths import DescribeServiceResponse200Paths
from .found_page import FoundPage
from .history_entry import HistoryEntry
from .history_entry_type import HistoryEntryType
from .is_live_response_200 import IsLiveResponse200
from .is_ready_response_200 import IsReadyResponse200
from .issued_api_key import IssuedApiKey
from .list_applications_response_200 import ListApplicationsResponse200
from .list_applications_type_item import ListApplicationsTypeItem
from .list_checkpoints_response_200 import ListCheckpointsResponse200
from .list_logs_entity_type import ListLogsEntityType
from .list_logs_operation import ListLogsOperation
from .list_logs_response_200 import ListLogsResponse200
from .list_permissions_application_type_item import ListPermissionsApplicationTypeItem
from .list_tokens_metadata_filter import ListTokensMetadataFilter
from .list_tokens_type_item import ListTokensTypeItem
from .list_tokens_v2_metadata_filter import ListTokensV2MetadataFilter
from .list_tokens_v2_type import ListTokensV2Type
from .list_webhook_deliveries_outcome import ListWebhookDeliveriesOutcome
from .list_webhook_deliveries_response_200 import ListWebhookDeliveriesResponse200
from .list_webhooks_response_200 import ListWebhooksResponse200
from .log_entry import LogEntry
from .log_entry_actor_type import LogEntryActorType
from .log_entry_outcome import LogEntryOutcome
from .pagination import Pagination
from .permission import Permission
from .permission_application_types_item import PermissionApplicationTypesItem
from .permission_type import PermissionType
from .problem import Problem
from .problem_errors import ProblemErrors
from .rotate_webhook_secret_body import RotateWebhookSecretBody
from .search_suggestions import SearchSuggestions
from .search_suggestions_suggestions_item import SearchSuggestionsSuggestionsItem
from .search_suggestions_suggestions_item_kind import (
    SearchSuggestionsSuggestionsItemKind,
)
from .search_tokens_body import SearchTokensBody
from .search_tokens_v2_body import SearchTokensV2Body
from .tenant import Tenant
from .tenant_settings import TenantSettings
from .tenant_settings_deduplicate_tokens import TenantSettingsDeduplicateTokens
from .tenant_settings_keep_superseded_data import TenantSettingsKeepSupersededData
from .tenant_settings_show_fingerprints import TenantSettingsShowFingerprints
from .token import Token
from .token_cursor_page import TokenCursorPage
from .token_cursor_page_pagination import TokenCursorPagePagination
from .token_extras import TokenExtras
from .token_history_response_200 import TokenHistoryResponse200
from .token_metadata import TokenMetadata
from .token_page import TokenPage
from .token_type import TokenType
from .update_application_body import UpdateApplicationBody
from .update_application_body_rules_type_0_item import (
    UpdateApplicationBodyRulesType0Item,
)
from .update_application_body_rules_type_0_item_permissions_item import (
    UpdateApplicationBodyRulesType0ItemPermissionsItem,
)
from .update_application_body_rules_type_0_item_transform import (
    UpdateApplicationBodyRulesType0ItemTransform,
)
from .update_tenant_body import UpdateTenantBody
from .update_tenant_body_settings_type_0 import UpdateTenantBodySettingsType0
from .update_tenant_body_settings_type_0_additional_property_type_1 import (
    UpdateTenantBodySettingsType0AdditionalPropertyType1,
)
from .update_token_body import UpdateTokenBody
from .update_token_body_metadata_type_0 import UpdateTokenBodyMetadataType0
from .update_webhook_body import UpdateWebhookBody
from .usage_report import UsageReport
from .usage_report_token_report import UsageReportTokenReport
from .usage_report_token_report_tokens_by_type import UsageReportTokenReportTokensByType
from .webhook import Webhook
from .webhook_delivery import WebhookDelivery
from .webhook_delivery_outcome import WebhookDeliveryOutcome
from .webhook_event_types_item import WebhookEventTypesItem
from .webhook_token_types_item import WebhookTokenTypesItem
from .webhook_with_secret import WebhookWithSecret
from .webhook_with_secret_event_types_item import WebhookWithSecretEventTypesItem
from .webhook_with_secret_token_types_item import WebhookWithSecretTokenTypesItem

__all__ = (
    "AccessRule",
    "AccessRulePermissionsItem",
    "AccessRuleTransform",
    "ApiKey",
    "Application",
    "ApplicationPermissionsItem",
    "ApplicationType",
    "ApplicationWithKey",
    "ApplicationWithKeyPermissionsItem",
    "ApplicationWithKeyType",
    "Checkpoint",
    "CreateApplicationBody",
    "CreateApplicationBodyRulesType0Item",
    "CreateApplicationBodyRulesType0ItemPermissionsItem",
    "CreateApplicationBodyRulesType0ItemTransform",
    "CreateApplicationBodyType",
    "CreateTokenBody",
    "CreateTokenBodyMetadataType0",
    "CreateTokenBodyType",
    "CreateWebhookBody",
    "DeleteTenantBody",
    "DeleteTokensBody",
    "DeleteTokensResponse200",
    "DescribeServiceResponse200",
    "DescribeServiceResponse200Paths",
    "FoundPage",
    "HistoryEntry",
    "HistoryEntryType",
    "IsLiveResponse200",
    "IsReadyResponse200",
    "IssuedApiKey",
    "ListApplicationsResponse200",
    "ListApplicationsTypeItem",
    "ListCheckpointsResponse200",
    "ListLogsEntityType",
    "ListLogsOperation",
    "ListLogsResponse200",
    "ListPermissionsApplicationTypeItem",
    "ListTokensMetadataFilter",
    "ListTokensTypeItem",
    "ListTokensV2MetadataFilter",
    "ListTokensV2Type",
    "ListWebhookDeliveriesOutcome",
    "ListWebhookDeliveriesResponse200",
    "ListWebhooksResponse200",
    "LogEntry",
    "LogEntryActorType",
    "LogEntryOutcome",
    "Pagination",
    "Permission",
    "PermissionApplicationTypesItem",
    "PermissionType",
    "Problem",
    "ProblemErrors",
    "RotateWebhookSecretBody",
    "SearchSuggestions",
    "SearchSuggestionsSuggestionsItem",
    "SearchSuggestionsSuggestionsItemKind",
    "SearchTokensBody",
    "SearchTokensV2Body",
    "Tenant",
    "TenantSettings",
    "TenantSettingsDeduplicateTokens",
    "TenantSettingsKeepSupersededData",
    "TenantSettingsShowFingerprints",
    "Token",
    "TokenCursorPage",
    "TokenCursorPagePagination",
    "TokenExtras",
    "TokenHistoryResponse200",
    "TokenMetadata",
    "TokenPage",
    "TokenType",
    "UpdateApplicationBody",
    "UpdateApplicationBodyRulesType0Item",
    "UpdateApplicationBodyRulesType0ItemPermissionsItem",
    "UpdateApplicationBodyRulesType0ItemTransform",
    "UpdateTenantBody",
    "UpdateTenantBodySettingsType0",
    "UpdateTenantBodySettingsType0AdditionalPropertyType1",
    "UpdateTokenBody",
    "UpdateTokenBodyMetadataType0",
    "UpdateWebhookBody",
    "UsageReport",
    "UsageReportTokenReport",
    "UsageReportTokenReportTokensByType",
    "Webhook",
    "WebhookDelivery",
    "WebhookDeliveryOutcome",
    "WebhookEventTypesItem",
    "WebhookTokenTypesItem",
    "WebhookWithSecret",
    "WebhookWithSecretEventTypesItem",
    "WebhookWithSecretTokenTypesItem",
)
