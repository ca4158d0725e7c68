import { loadWebDevice, type DeviceIdentity } from "openclaw/client";
import { t } from "../words/words.ts";
import { browserKeys } from "./keys.ts";

/** This browser's own identity; undefined where a browser cannot have one. */
export async function identity(): Promise<DeviceIdentity | undefined> {
  if (!globalThis.isSecureContext || !globalThis.crypto?.subtle) return undefined;
  try {
    return await loadWebDevice(browserKeys);
  } catch {
    // An older browser without ed25519, or one that keeps nothing: the gateway says what it thinks of that.
    return undefined;
  }
}

/** What a one-time code is traded for. */
interface Grant {
  readonly role: string;
  readonly scopes: readonly string[];
  readonly deviceToken: string;
}

/** Trades a one-time code for a token of this browser's own. */
export async function redeem(code: string, device: DeviceIdentity | undefined): Promise<Grant> {
  if (!device) throw new Error(t("A sign-in link needs HTTPS or an address on this machine (localhost). Enter the gateway’s token instead."));
  const response = await fetch(new URL("__openclaw/login", document.baseURI), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, device: { id: device.id, publicKey: device.publicKey } }),
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<Grant> & { readonly error?: string };
  const { role, scopes, deviceToken } = answer;
  if (response.ok && role !== undefined && scopes && deviceToken !== undefined) return { role, scopes, deviceToken };
  throw new Error(answer.error ?? t`The sign-in link was refused (${response.status}).`);
}

/** What to type on the gateway's machine to run its program; undefined where the gateway does not name it. */
export async function programOfGateway(): Promise<string | undefined> {
  try {
    const response = await fetch(new URL("__openclaw/control-ui-config.json", document.baseURI));
    const { program } = (await response.json()) as { readonly program?: unknown };
    return typeof program === "string" && program !== "" ? program : undefined;
  } catch {
    return undefined; // Another origin serves the page, or the gateway is down.
  }
}
