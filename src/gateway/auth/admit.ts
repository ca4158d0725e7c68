import { SCOPES, type ConnectParams, type Role } from "../../protocol/index.ts";
import type { Admission, AdmitInput, IssuedToken, Refused, SecretFailure, SecretVerdict } from "./auth.ts";
import { isShared, type Proof, type ResolvedSettings } from "./credentials.ts";
import { verifyDevice } from "./devices/identity.ts";
import { scopesFor } from "./devices/grants.ts";
import { ORIGIN_REFUSED, isControlUi, isWebchat, originRefused } from "./peer/origin.ts";
import type { Pairing } from "./devices/pairing.ts";
import { boundedOffers } from "./devices/records.ts";
import type { Peer } from "./peer/peer.ts";
import { printableName } from "../../base/printable.ts";

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
function unauthorizedMessage({ reason, notPaired }: Extract<SecretVerdict, { ok: false }>, client: ClientKind): string {
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

/** What a browser calls itself, looked for in this order: many name others, too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|OPiOS|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bYaBrowser\//, "Yandex Browser"],
  [/\bDuckDuckGo\//, "DuckDuckGo"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|Chromium|CriOS)\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*\bSafari\//, "Safari"],
  [/\bAppleWebKit\//, "WebKit"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b|\bMac OS X\b/, "Mac"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** More is not read: what a stranger sends costs little. */
const MOST = 512;

/**
 * A name for a browser by which people tell it from another, such as `Firefox on Linux`. It is made of known words only and proves nothing: anybody can
 * send any.
 */
export function browserName(userAgent: string | undefined): string | undefined {
  const said = (userAgent ?? "").slice(0, MOST);
  const found = (names: readonly (readonly [RegExp, string])[]): string | undefined => names.find(([pattern]) => pattern.test(said))?.[1];
  const [browser, system] = [found(BROWSERS), found(SYSTEMS)];
  if (browser === undefined) return system === undefined ? undefined : `Browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}

export interface AdmitDeps {
  readonly settings: () => ResolvedSettings;
  readonly peerOf: (request: AdmitInput["request"]) => Peer;
  readonly prove: (proof: Proof) => Promise<SecretVerdict>;
  readonly pairing: Pick<Pairing, "enter" | "verifyToken">;
  /** Why the Host cannot be trusted, if it cannot. */
  readonly foreignHost: (peer: Peer) => string | undefined;
  readonly now: () => number;
}

/** One handshake on its way through the checks. Each adds what it has established. */
interface Attempt {
  readonly input: AdmitInput;
  readonly params: ConnectParams;
  readonly peer: Peer;
  readonly deps: AdmitDeps;
  /** Control UI, and the configuration lets it in without a device. */
  readonly bypass: boolean;
  /** Undefined when none was given, or when it is to be ignored. */
  readonly device: ConnectParams["device"];
  role: Role;
  proof: SecretVerdict | undefined;
  publicKey: string;
  issued: IssuedToken | undefined;
}

type Check = (attempt: Attempt) => Refused | undefined | Promise<Refused | undefined>;

const refused = (message: string, code: Refused["code"] = "INVALID_REQUEST", details?: Refused["details"]): Refused => ({
  ok: false,
  code,
  message,
  closeCode: 1008,
  ...(details ? { details } : {}),
});

const unauthorized = ({ params }: Attempt, verdict: SecretVerdict): Refused | undefined =>
  verdict.ok ? undefined : refused(unauthorizedMessage(verdict, params.client));

const knownRole: Check = (attempt) => {
  const role = attempt.params.role ?? "operator";
  if (role !== "operator" && role !== "node") return refused("invalid role");
  attempt.role = role;
  return undefined;
};

const allowedOrigin: Check = ({ input, params, peer, deps }) => {
  if (originRefused(input.request, params.client, deps.settings().controlUi.allowedOrigins)) return refused(ORIGIN_REFUSED);
  const foreign = deps.foreignHost(peer);
  return foreign === undefined ? undefined : refused(foreign);
};

const secureContext: Check = ({ device, params, bypass }) =>
  device || bypass || !isControlUi(params.client) ? undefined : refused("control ui requires HTTPS or localhost (secure context)");

/** Without a device only the shared secret counts. Saying nothing is answered by the next check. */
const secretWithoutDevice: Check = async (attempt) => {
  const { device, params, peer, input, deps } = attempt;
  if (device) return undefined;
  attempt.proof = await deps.prove({ credentials: params.auth ?? {}, peer, request: input.request });
  return params.auth?.token || params.auth?.password ? unauthorized(attempt, attempt.proof) : undefined;
};

/** A node without a device would be one that nobody approved. */
const deviceOrSecret: Check = ({ device, proof, role }) => {
  if (device || (proof && isShared(proof) && role === "operator")) return undefined;
  return refused("device identity required", "NOT_PAIRED");
};

const deviceIdentity: Check = (attempt) => {
  const { device, params, input, peer, deps } = attempt;
  if (!device) return undefined;
  const verdict = verifyDevice(
    { ...params, device },
    {
      nonce: input.nonce,
      local: peer.local,
      allowUnsignedNonce: deps.settings().allowUnsignedNonce,
      now: deps.now(),
    },
  );
  if (!verdict.ok) return refused(verdict.message);
  attempt.publicKey = verdict.publicKey;
  return undefined;
};

const secretOrDeviceToken: Check = async (attempt) => {
  const { device, params, peer, input, deps, role } = attempt;
  if (!device) return undefined;
  const scopes = scopesFor(role, params.scopes ?? []);
  attempt.proof = await deps.prove({
    credentials: params.auth ?? {},
    peer,
    request: input.request,
    tailscale: true,
    deviceToken: (token) => deps.pairing.verifyToken({ deviceId: device.id, role, token, scopes }),
  });
  return unauthorized(attempt, attempt.proof);
};

const paired: Check = async (attempt) => {
  const { device, params, peer, bypass, proof, role, publicKey, deps } = attempt;
  if (!device || (bypass && proof && isShared(proof))) return undefined;
  const { id: clientId, mode: clientMode, displayName, platform } = params.client;
  // Every Control UI calls itself that: what tells one from another is the browser that it runs in.
  const browser = isControlUi(params.client) ? browserName(params.userAgent) : undefined;
  const info = {
    displayName: browser ?? (displayName === undefined ? undefined : printableName(displayName) || undefined),
    platform: printableName(platform),
    clientId: printableName(clientId),
    clientMode,
    remoteIp: peer.ip,
  };
  const offers = role === "node" ? boundedOffers(params.caps, params.commands) : undefined;
  const entry = await deps.pairing.enter({ deviceId: device.id, publicKey, info, role, scopes: params.scopes ?? [], offers, local: peer.local });
  if (!entry.ok) return refused("pairing required", "NOT_PAIRED", entry.requestId === undefined ? {} : { requestId: entry.requestId });
  attempt.issued = entry.issued;
  return undefined;
};

/** Checks 6 to 17 of the handshake, in their documented order. */
const CHECKS: readonly Check[] = [knownRole, allowedOrigin, secureContext, secretWithoutDevice, deviceOrSecret, deviceIdentity, secretOrDeviceToken, paired];

/** With a device: what was asked for, all of which is approved by now. Without: nothing, unless the configuration lets the Control UI in as it is. */
function grantedScopes({ params, role, bypass, issued }: Attempt): string[] {
  const asked = scopesFor(role, params.scopes ?? []);
  if (issued) return asked;
  return bypass ? asked.filter((scope) => SCOPES.some((known) => known === scope)) : [];
}

/** Runs the checks; the first that fails says why. */
export async function admitClient(input: AdmitInput, deps: AdmitDeps): Promise<Admission> {
  const { params } = input;
  const ui = deps.settings().controlUi;
  const fromUi = isControlUi(params.client);
  const ignoreDevice = fromUi && ui.dangerouslyDisableDeviceAuth;
  const attempt: Attempt = {
    input,
    params,
    peer: deps.peerOf(input.request),
    deps,
    bypass: fromUi && (ui.allowInsecureAuth || ui.dangerouslyDisableDeviceAuth),
    device: ignoreDevice ? undefined : params.device,
    role: "operator",
    proof: undefined,
    publicKey: "",
    issued: undefined,
  };
  for (const check of CHECKS) {
    const failure = await check(attempt);
    if (failure) return failure;
  }
  const { proof, role, peer, device, issued } = attempt;
  if (!proof?.ok) return refused("unauthorized");
  const scopes = grantedScopes(attempt);
  return {
    ok: true,
    role,
    scopes: new Set(scopes),
    method: proof.method,
    peer,
    ...(device ? { deviceId: device.id } : {}),
    ...(issued ? { issued: { ...issued, scopes } } : {}),
  };
}
