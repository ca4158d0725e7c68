import { connect, storedTokens, type DeviceIdentity, type DeviceTokens } from "openclaw/client";
import { keep } from "../base/keep.ts";
import type { Credentials } from "./state.ts";
import { t } from "../words/words.ts";

const CLIENT_ID = "openclaw-control-ui";
/** The role that people have. */
export const ROLE = "operator";
const TOKENS = "device-token";

/** The gateway is where the page came from. Nothing in the address changes that. */
const socketUrl = (): string => new URL(document.baseURI).href.replace(/^http/, "ws");

/** What every connection of the page has in common. */
const connection = () =>
  ({
    url: socketUrl(),
    allowInsecure: true,
    client: { id: CLIENT_ID, displayName: t("Control UI"), version: __VERSION__, platform: "web", mode: "ui" },
    caps: ["tool-events"],
    userAgent: navigator.userAgent,
    locale: navigator.language,
    reconnect: { firstMs: 300, maxMs: 5000 },
  }) as const;

/** Device tokens in this browser's storage; a browser that forbids it keeps none. */
export function browserTokens(): DeviceTokens {
  const text = { getItem: (key: string) => keep.text(key) ?? null, setItem: keep.setText, removeItem: (key: string) => keep.setText(key, undefined) };
  return storedTokens(text, TOKENS);
}

/** Calls when another tab has got a token, or has forgotten one. */
export function onForeignTokens(listener: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === null || key.includes(TOKENS)) listener();
  });
}

/** How a connection is made: by the device, and by what was given or stored. */
export const introduction = ({ token, password }: Credentials, device: DeviceIdentity | undefined, deviceTokens: DeviceTokens) =>
  ({
    ...connection(),
    ...(token ? { token } : {}),
    ...(password ? { password } : {}),
    ...(device ? { device, deviceTokens } : {}),
    prefer: token || password ? "given" : "stored",
  }) as const;

/**
 * Trades a pasted secret for a token of this browser's own, and gives what is left to connect with: nothing, once there is such a token. A page that held
 * on to the secret would come back by itself after its token was taken away.
 */
export async function traded(credentials: Credentials, device: DeviceIdentity | undefined, tokens: DeviceTokens): Promise<Credentials> {
  if (!device || (!credentials.token && !credentials.password)) return credentials;
  const first = await connect(introduction(credentials, device, tokens));
  first.close();
  return first.hello.auth && (await tokens.load(device.id, first.hello.auth.role)) ? {} : credentials;
}
