export { DEFAULT_ACCOUNT_ID, normalizeAccountId, normalizeOptionalAccountId } from "../account-ids.ts";
