export {
  assertOkOrThrowProviderError,
  createProviderHttpError,
  createProviderOperationDeadline,
  readProviderJsonArrayFieldResponse,
  readProviderJsonResponse,
  resolveProviderOperationTimeoutMs,
} from "../newer/http.ts";
