import type { SecretFailure, SecretVerdict } from "./auth.ts";
import { isControlUi, isWebchat } from "./peer/origin.ts";

interface ClientKind {
  readonly id: string;
  readonly mode: string;
}

/** What the user of this client has to do about a missing or wrong secret. */
function advice(secret: "token" | "password", client: ClientKind): string {
  if (client.id === "cli") return `set gateway.remote.${secret} to match gateway.auth.${secret}`;
  if (!isControlUi(client) && !isWebchat(client)) return `provide gateway auth ${secret}`;
  return secret === "token" ? "open the dashboard URL and paste the token in Control UI settings" : "enter the password in Control UI settings";
}

/**
 * The documented text of a refusal; clients act on some of these. They forget a stored token when they read `device token mismatch`, so a device
 * that is not paired (any more) reads it too, with what is the matter.
 */
export function unauthorizedMessage({ reason, notPaired }: Extract<SecretVerdict, { ok: false }>, client: ClientKind): string {
  const text = secretText(reason, client);
  if (!notPaired) return text;
  const [, about = "pair it first"] = text.split("unauthorized: ");
  return `unauthorized: device token mismatch, this device is not paired; ${about}`;
}

function secretText(reason: SecretFailure, client: ClientKind): string {
  const texts: Readonly<Record<SecretFailure, string>> = {
    token_missing: `unauthorized: gateway token missing (${advice("token", client)})`,
    token_mismatch: `unauthorized: gateway token mismatch (${advice("token", client)})`,
    token_missing_config: "unauthorized: gateway token not configured on gateway (set gateway.auth.token)",
    password_missing: `unauthorized: gateway password missing (${advice("password", client)})`,
    password_mismatch: `unauthorized: gateway password mismatch (${advice("password", client)})`,
    password_missing_config: "unauthorized: gateway password not configured on gateway (set gateway.auth.password)",
    device_token_mismatch: "unauthorized: device token mismatch (rotate/reissue device token)",
    rate_limited: "unauthorized: too many failed authentication attempts (retry later)",
    unauthorized: "unauthorized",
  };
  return texts[reason];
}
