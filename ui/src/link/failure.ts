import { capital } from "../base/capital.ts";
import { language, t } from "../words/words.ts";
import { isAction } from "./actions.ts";

interface Refused {
  readonly message: string;
  readonly code?: string;
  readonly details?: {
    readonly protocolCode?: string;
    readonly closeCode?: number;
    readonly reason?: string;
    readonly method?: string;
    readonly details?: unknown;
  };
}

const refused = (error: unknown): Refused => (error instanceof Error ? error : { message: String(error) });

/** Close codes of a gateway that went, or of a network that did. */
const GONE: ReadonlySet<number> = new Set([1001, 1005, 1006, 1012]);

/** The gateway ended while it did something, and does not know how far it came. */
const isUnknown = ({ details }: Refused): boolean => (details?.details as { readonly outcome?: unknown } | undefined)?.outcome === "unknown";

/** What went wrong, for people. */
export function failureText(error: unknown): string {
  const { message: text, code, details } = refused(error);
  if (isUnknown(refused(error))) return t("The gateway stopped while doing this. It may have been done: check before you try again.");
  if (code === "TIMEOUT") {
    return isAction(details?.method ?? "")
      ? t("The gateway did not answer in time. It may have done it: check before you try again.")
      : t("The gateway did not answer in time. Try again.");
  }
  if (code === "CANCELLED") return t("This was cancelled. It may have been done: check before you try again.");
  if (details?.closeCode !== undefined) {
    const { closeCode, reason } = details;
    if (GONE.has(closeCode)) return t("The connection was lost before the gateway answered.");
    return t`The gateway closed the connection (${reason ? `${closeCode}: ${reason}` : closeCode}).`;
  }
  if (code === "OVERLOADED" && details?.protocolCode === undefined) return t("Too many requests are waiting for the connection. Try again when it is back.");
  if (text === "") return t("unknown error");
  // What the gateway says is in English: readers of other languages see whose words they are.
  return details?.protocolCode !== undefined && language !== "en" ? t`The gateway reports: ${capital(text)}` : capital(text);
}

/** True when this browser has to be approved first. */
export const isPairingNeeded = (error: unknown): boolean =>
  refused(error).details?.protocolCode === "NOT_PAIRED" || refused(error).message.includes("pairing required");

/** True when the gateway wants a credential that it did not get, or not this one. */
export const isUnauthorized = (error: unknown): boolean => /unauthorized|token|password|device identity required|secure context/i.test(refused(error).message);

/** True when the gateway ended the connection because what it stood on is no longer valid. */
export const isRevoked = (error: unknown): boolean => {
  const { closeCode, reason = "" } = refused(error).details ?? {};
  return closeCode === 1008 && reason.startsWith("unauthorized");
};

/** What a page says that was put out, for people. */
export const revokedText = (error: unknown): string =>
  /device token/.test(refused(error).message)
    ? t("This browser’s token was revoked or replaced. Sign in again.")
    : t("The gateway’s token or password was changed. Sign in with the new one.");

/** What a page says that was not let in, for people: the gateway's own texts name settings of other programs. `typed`: the user has just typed a secret. */
export function refusedText(error: unknown, typed: boolean): string {
  const { message } = refused(error);
  if (/device token/i.test(message) && !(typed && /gateway (?:token|password)/i.test(message)))
    return t(
      "This browser is no longer signed in: the gateway does not know its token. It was revoked or replaced, or the gateway was restored from an older state.",
    );
  if (/too many failed/i.test(message)) return failureText(error);
  if (/token mismatch|token missing/i.test(message)) return t("This is not the gateway’s token.");
  if (/password mismatch|password missing/i.test(message)) return t("This is not the gateway’s password.");
  return failureText(error);
}

/** True when the gateway does not have the method, or not yet. */
export const isMissing = (error: unknown): boolean =>
  /unknown method|UNAVAILABLE/i.test(`${refused(error).details?.protocolCode ?? ""} ${refused(error).message}`);

/** The word for why the gateway refused, where it gives one. */
export const reasonOf = (error: unknown): unknown => (refused(error).details?.details as { readonly reason?: unknown } | undefined)?.reason;

/** True when something else changed what was to be written. */
export const isConflict = (error: unknown): boolean => reasonOf(error) === "CONFLICT";
