export {
  assertOkOrThrowProviderError,
  createProviderHttpError,
  createProviderOperationDeadline,
  readProviderJsonArrayFieldResponse,
  readProviderJsonResponse,
  resolveProviderOperationTimeoutMs,
} from "../network/http.ts";
