import type { ModelFailure } from "../failure.ts";
import type { FailureClass } from "./classify.ts";
import { causesCooldown } from "./decide.ts";

/** Errors about the region, the request or the account's options: another call with the same credential may well succeed. */
const NOT_THE_CREDENTIAL =
  /extra usage is required for long context|oauth authentication is currently not supported|not supported for the api use|public access is disabled|proxy authentication required|sorry, you have been blocked|use case details have not been submitted|no auth credentials found|temporarily rate-limited upstream/i;
/** The provider does not serve this machine's region: no other key helps. */
const REGION =
  /(?:country|region|territory|location)s?\b[^.]{0,40}\b(?:is|are)? ?(?:not|un)[- ]?(?:supported|available|allowed)|not (?:available|supported|allowed|offered|accessible) in your (?:current )?(?:region|country|location|territory)|(?:unsupported|restricted|blocked) (?:country|region|territory|location)|unsupported_country/i;
const REGION_CODE = "unsupported_country_region_territory";

const REGION_STATUSES: ReadonlySet<number | undefined> = new Set([undefined, 400, 403, 451]);

/** Whether a provider refused because of the request's region. */
export const isRegion = ({ status, text, codes = [] }: Pick<ModelFailure, "status" | "text" | "codes">): boolean =>
  codes.includes(REGION_CODE) || (REGION_STATUSES.has(status) && REGION.test(text));

const NOT_THE_CREDENTIAL_CODES: ReadonlySet<string> = new Set([REGION_CODE, "html_blocked", "upstream_provider_shared_pool"]);

/** Whether the credential gets a cooldown after this failure. */
export function startsCooldown(failure: ModelFailure, kind: FailureClass): boolean {
  if (!causesCooldown(kind)) return false;
  // A model's answer is not the credential's fault, and a wrong URL is the configuration's.
  if (failure.malformed === true && failure.phase === "answer") return false;
  if (failure.status === 404 || failure.status === 407 || (failure.html && kind === "auth")) return false;
  // If only the free tier is unavailable, a paid key helps.
  if (kind !== "billing" && isRegion(failure)) return false;
  return !NOT_THE_CREDENTIAL.test(failure.text) && !(failure.codes ?? []).some((code) => NOT_THE_CREDENTIAL_CODES.has(code));
}

/** Retrying is pointless: the certificate, the URL or the protocol is wrong. */
const HOPELESS_CODES = /^(?:CERT_.*|ERR_TLS_.*|SELF_SIGNED_CERT.*|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_.*|EPROTO)$/;

/** How often repeating the call unchanged can help, where it differs from the class's default. */
export function retryLimit({ code, codes = [], html, status, text }: ModelFailure, kind: FailureClass): number | undefined {
  if (code !== undefined && HOPELESS_CODES.test(code)) return 0;
  if (code === "ENOTFOUND") return 1;
  if (isRegion({ text, codes, ...(status === undefined ? {} : { status }) })) return 0;
  if (html && (status === 403 || status === undefined)) return kind === "timeout" && status === undefined ? 1 : 0;
  // The model produced a malformed call: the next answer may be valid.
  if (kind === "tool_schema" && codes.some((each) => /^(?:tool_use_failed|MALFORMED_FUNCTION_CALL)$/.test(each))) return 1;
  if (/requires more system memory/i.test(text)) return 0;
  return undefined;
}
