import type { FailureClass } from "./classify.ts";

/** Codes by class, as providers send them; compared as a whole and in lower case. Numbers carry the provider's name. */
const SPECIFIC: Readonly<Partial<Record<FailureClass, readonly string[]>>> = {
  rate_limit: [
    "slow_down",
    "openrouter_in_flight_budget",
    "upstream_provider_shared_pool",
    "usage_limit_reached",
    "rate_limit_reached_error",
    "throttling.ratequota",
    "user_weekly_rate_limited",
    "user_global_rate_limited",
    "user_model_rate_limited",
    "integration_rate_limited",
    "quota_exhausted",
    "token_quota_exceeded",
    "throttlingexception",
    "toomanyrequestsexception",
    "mistral:1300",
    "minimax:1002",
    "minimax:2056",
    ...zai(1302, 1304, 1308, 1310, 1316, 1317, 1318, 1319, 1320, 1321),
  ],
  context_overflow: [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_max_prompt_tokens_exceeded",
    "tokens_limit_reached",
    "model_context_window_exceeded",
    ...zai(1261),
  ],
  billing: [
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "enforced_spend_limit_reached",
    "usage_not_included",
    "token_limit_exceeded",
    "exceeded_current_quota_error",
    "arrearage",
    "postpaidbilloverdue",
    "allocationquota.freetieronly",
    "invalidsubscription",
    "quota_exceeded",
    "insufficient_balance",
    "api_key_diem_spend_limit_exceeded",
    "api_key_usd_spend_limit_exceeded",
    "authentication_failed_inactive_key",
    "freeusagelimiterror",
    "gousagelimiterror",
    "payment_required",
    "minimax:1008",
    ...zai(1113, 1309, 1311, 1314),
  ],
  auth: [
    "invalid_api_key",
    "incorrect_api_key_error",
    "invalid_authentication_error",
    "api_key_invalid",
    "unsupported_country_region_territory",
    "service_disabled",
    "expiredtokenexception",
    "unrecognizedclientexception",
    "incompletesignature",
    "ftuformnotfilled",
    "accessdenied.unpurchased",
    "refresh_token_reused",
    "html_blocked",
    "minimax:1004",
    "minimax:2049",
    ...zai(1000, 1001, 1002, 1003, 1004, 1005, 1220, 1313, 1315),
  ],
  overloaded: [
    "overloaded_error",
    "server_is_overloaded",
    "engine_overloaded_error",
    "model_capacity_exhausted",
    "modelnotreadyexception",
    "queue_exceeded",
    "service_tier_capacity_exceeded",
    "unavailable_error",
    "mistral:3505",
    "mistral:3800",
    ...zai(1305),
  ],
  timeout: ["modeltimeoutexception", "html_bot_check", "minimax:1000", "minimax:1001", ...zai(1200, 1230, 1234)],
  refused: [
    "content_filter",
    "responsibleaipolicyviolation",
    "invalid_prompt",
    "moderation",
    "data_inspection_failed",
    "datainspectionfailed",
    "guardrail_intervened",
    "content_filtered",
    "minimax:1026",
    "minimax:1027",
    ...zai(1301),
  ],
  model_unknown: [
    "model_not_found",
    "deploymentnotfound",
    "model_is_deactivated",
    "model_decommissioned",
    "model_not_supported",
    "model_not_available",
    "invalid_model",
    "pro_only_model",
    "no_available_model_endpoints",
    "mistral:1500",
    ...zai(1211),
  ],
  tool_schema: ["array_above_max_length", "invalid_function_parameters", "tool_use_failed", "malformed_function_call"],
  image_size: ["invalid_image_format", "image_parse_error", "invalid_image", "invalid_base64_image", "unsupported_image_media_type", "request_too_large"],
  format: [
    "string_above_max_length",
    "unsupported_parameter",
    "invalid_encrypted_content",
    "previous_response_not_found",
    "internalerror.algo.invalidparameter",
    "mistral:3051",
    ...zai(1210, 1213, 1214, 1215),
  ],
};

/** Ambiguous codes: they decide only where the text says nothing. */
const COARSE: Readonly<Partial<Record<FailureClass, readonly string[]>>> = {
  rate_limit: [
    "rate_limit_error",
    "rate_limit_exceeded",
    "resource_exhausted",
    "resource-exhausted",
    "requests",
    "tokens",
    "throttling.allocationquota",
    "limitation",
  ],
  overloaded: ["unavailable", "serviceunavailableexception", "service_unavailable_error", "overloaded"],
  auth: [
    "authentication_error",
    "permission_error",
    "permission_denied",
    "permission-denied",
    "unauthenticated",
    "accessdeniedexception",
    "request_forbidden",
    "unauthorized",
  ],
  timeout: [
    "api_error",
    "server_error",
    "internal_server_error",
    "timeout_error",
    "conflict_error",
    "internalserverexception",
    "internalfailure",
    "internal",
    "deadline_exceeded",
    "internalerror",
    "network_error",
  ],
  model_unknown: ["not_found_error", "notfounderror", "not_found"],
  format: ["mistral:3230", "invalid_request_error", "invalid_argument", "badrequesterror", "validationexception", "failed_precondition"],
};

function zai(...numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => `zai:${number}`);
}

type Lookup = (codes: readonly string[]) => FailureClass | undefined;

function lookup(table: Readonly<Partial<Record<FailureClass, readonly string[]>>>): Lookup {
  const known = new Map(Object.entries(table).flatMap(([kind, codes]) => codes.map((code) => [code, kind as FailureClass] as const)));
  return (codes) => {
    for (const code of codes) {
      const kind = known.get(code.toLowerCase());
      if (kind !== undefined) return kind;
    }
    return undefined;
  };
}

/** The class of an unambiguous code; of several the first. */
export const specificCode: Lookup = lookup(SPECIFIC);
/** The class of a code when nothing else decides. */
export const coarseCode: Lookup = lookup(COARSE);
