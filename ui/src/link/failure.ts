interface Refused {
  readonly message: string;
  readonly details?: { readonly protocolCode?: string; readonly closeCode?: number; readonly reason?: string; readonly details?: unknown };
}

const refused = (error: unknown): Refused => (error instanceof Error ? error : { message: String(error) });

/** What went wrong, for people. */
export function failureText(error: unknown): string {
  const text = refused(error).message;
  return text === "" ? "something failed without saying why" : text.charAt(0).toUpperCase() + text.slice(1);
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
    ? "This browser’s token was revoked or replaced. Sign in again."
    : "The gateway’s token or password was changed. Sign in with the new one.";

/** True when the gateway does not have the method, or not yet. */
export const isMissing = (error: unknown): boolean =>
  /unknown method|UNAVAILABLE/i.test(`${refused(error).details?.protocolCode ?? ""} ${refused(error).message}`);

/** True when something else changed what was to be written. */
export const isConflict = (error: unknown): boolean => (refused(error).details?.details as { readonly reason?: unknown } | undefined)?.reason === "CONFLICT";
