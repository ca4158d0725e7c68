import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Config, Env, SecretInput } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import { admitClient } from "./admit.ts";
import type { AddressRange } from "./peer/address.ts";
import type { Admission, AdmitInput, Auth, AuthMethod, BearerVerdict } from "./auth.ts";
import { createPairing } from "./devices/create-pairing.ts";
import { createAttempts, createCredentialCheck, type ResolvedSettings } from "./credentials.ts";
import { createNodePairing } from "./devices/nodes.ts";
import { createLoginCodes } from "./login/codes.ts";
import { createLogin } from "./login/login.ts";
import { hostRefused, ORIGIN_REFUSED, originAllowed, originRefused } from "./peer/origin.ts";
import { headerOf, parseTrustedProxies, peerOf, type Peer, type PeerRequest } from "./peer/peer.ts";
import { createListeners } from "./listeners.ts";
import { createFailureBudget } from "./rate-limit.ts";
import { isRevoked, type Revocation } from "./revocation.ts";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { ensureToken, settingsFrom, type AuthSettings } from "./settings.ts";
import { createWhois, type Whois } from "./tailscale.ts";
import { createTurns } from "../turns.ts";

export interface AuthDeps {
  readonly settings: () => AuthSettings;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  /** Known to the same user's programs through the lock file. */
  readonly runSecret?: string;
  /** Fetches a secret that the configuration only refers to. `at` is its config path. */
  readonly resolveSecret: (input: SecretInput, at: string) => Promise<string>;
  /** For `tailscale whois`. */
  readonly env: Env;
  readonly whois?: Whois;
  /** Called with every device token that is issued, so that it can be redacted wherever it appears. */
  readonly onSecret?: ((secret: string) => void) | undefined;
}

interface InForce {
  readonly given: AuthSettings;
  readonly resolved: ResolvedSettings;
  readonly proxies: readonly AddressRange[];
}

const HOST_REFUSED = "host not allowed (use localhost or the gateway's address, or add it to gateway.controlUi.allowedOrigins)";

/** What lets sockets in without a token of their own, by method: when the text changes, those sockets have to prove themselves again. */
function rules({ mode, token, password, allowTailscale, trustedProxies, trustedProxy }: ResolvedSettings): Map<AuthMethod, string> {
  const found = new Map<AuthMethod, string>();
  if (mode === "none") found.set("none", "none");
  if (mode === "token" && token !== undefined) found.set("token", token);
  if (mode === "password" && password !== undefined) found.set("password", password);
  if (mode === "trusted-proxy") found.set("trusted-proxy", JSON.stringify([trustedProxies, trustedProxy]));
  if (allowTailscale) found.set("tailscale", "tailscale");
  return found;
}

function methodsNoLongerValid(before: ResolvedSettings, after: ResolvedSettings): AuthMethod[] {
  const now = rules(after);
  return [...rules(before)].filter(([method, rule]) => !equalSecrets(now.get(method) ?? "", rule)).map(([method]) => method);
}

function bearerToken(request: PeerRequest): string | undefined {
  return /^bearer +(\S.*)$/i.exec(headerOf(request, "authorization")?.trim() ?? "")?.[1];
}

/** Fetches the secrets that settings refer to. One that cannot be had is as good as not set, unless it is the one in use already. */
async function putInForce(given: AuthSettings, deps: AuthDeps, before: InForce | undefined): Promise<InForce> {
  async function fetched(kind: "token" | "password"): Promise<string | undefined> {
    const input = given[kind];
    if (input === undefined || typeof input === "string") return input;
    try {
      return await deps.resolveSecret(input, `gateway.auth.${kind}`);
    } catch (error) {
      const same = before !== undefined && JSON.stringify(before.given[kind]) === JSON.stringify(input);
      deps.log.error(
        `gateway.auth.${kind} could not be resolved; ${same ? "the previous value stays in use" : "clients cannot connect with it"}: ${messageOf(error)}`,
      );
      return same ? before.resolved[kind] : undefined;
    }
  }
  const [token, password] = await Promise.all([fetched("token"), fetched("password")]);
  const proxies = parseTrustedProxies(given.trustedProxies, (entry) => deps.log.warn(`gateway.trustedProxies: "${entry}" is not an IP address or CIDR range`));
  return { given, resolved: { ...given, token, password }, proxies };
}

/** Settings in force: fetched at once, replaced by `update`. */
function createInForce(deps: AuthDeps, changed: (before: ResolvedSettings, after: ResolvedSettings) => void) {
  const turns = createTurns();
  const given = deps.settings();
  // Until its secrets are fetched nothing matches them.
  const unset = { ...given, token: undefined, password: undefined };
  let current: InForce = { given, resolved: unset, proxies: parseTrustedProxies(given.trustedProxies) };
  const ready = turns("settings", async () => void (current = await putInForce(given, deps, undefined)));
  return {
    ready,
    get resolved() {
      return current.resolved;
    },
    get proxies() {
      return current.proxies;
    },
    update: (settings: AuthSettings) =>
      turns("settings", async () => {
        const before = current;
        current = await putInForce(settings, deps, before);
        changed(before.resolved, current.resolved);
      }),
  };
}

/** Before the handshake nobody has said what they are: a program sends no Origin, and a page always does. */
const PROGRAM = { id: "", mode: "" };

/** Builds everything that decides who may connect. */
export function createAuth(deps: AuthDeps): Auth {
  const { clock, runSecret } = deps;
  const revocations = createListeners<Revocation>();
  const inForce = createInForce(deps, (before, after) => {
    const methods = methodsNoLongerValid(before, after);
    if (methods.length > 0) revocations.emit({ sharedSecret: true, methods });
  });
  const settings = (): ResolvedSettings => inForce.resolved;
  const attempts = createAttempts({ settings, clock, budget: createFailureBudget(() => settings().rateLimit, clock) });
  const prove = createCredentialCheck({ settings, attempts, runSecret, whois: deps.whois ?? createWhois(deps.env, clock) });
  const pairing = createPairing({ ...deps, revocations });
  const codes = createLoginCodes(deps);
  revocations.on(codes.revoked);
  const who = (request: PeerRequest): Peer => peerOf(request, inForce.proxies);
  const foreignHost = (peer: Peer): string | undefined => {
    const { mode, controlUi } = settings();
    return hostRefused(peer, { allowedOrigins: controlUi.allowedOrigins, guarded: mode !== "none" }) ? HOST_REFUSED : undefined;
  };

  /** What is revoked while the checks run must not slip through because its socket was not there yet. */
  async function admit(input: AdmitInput): Promise<Admission> {
    await inForce.ready;
    const meanwhile: Revocation[] = [];
    using _ = revocations.on((revocation) => void meanwhile.push(revocation));
    const admission = await admitClient(input, { settings, peerOf: who, prove, pairing, foreignHost, now: () => clock.now() });
    if (admission.ok && admission.issued) deps.onSecret?.(admission.issued.deviceToken);
    if (!admission.ok || !meanwhile.some((revocation) => isRevoked(revocation, admission))) return admission;
    return { ok: false, code: "INVALID_REQUEST", message: "unauthorized", closeCode: 1008 };
  }

  async function bearer(request: PeerRequest): Promise<BearerVerdict> {
    await inForce.ready;
    const peer = who(request);
    const foreign = foreignHost(peer);
    if (foreign !== undefined) return { ok: false, status: 403, message: foreign, peer };
    const origin = headerOf(request, "origin");
    if (origin !== undefined && !originAllowed(origin, headerOf(request, "host"), settings().controlUi.allowedOrigins))
      return { ok: false, status: 403, message: ORIGIN_REFUSED, peer };
    const token = bearerToken(request);
    const verdict = await prove({ credentials: { token, password: token }, peer, request });
    if (verdict.ok) return { ...verdict, peer };
    if (verdict.retryAfterMs === undefined) return { ok: false, status: 401, message: "Unauthorized", peer };
    return { ok: false, status: 429, message: "Too many failed authentication attempts", peer, retryAfterMs: verdict.retryAfterMs };
  }

  return {
    admit,
    bearer,
    async checkSecret(credentials, peer, request) {
      await inForce.ready;
      return prove({ credentials, peer, request });
    },
    peerOf: who,
    checkHost(request) {
      const message = foreignHost(who(request));
      return message === undefined ? { ok: true } : { ok: false, status: 403, message };
    },
    checkUpgrade(request) {
      const foreign = foreignHost(who(request)) ?? (originRefused(request, PROGRAM, settings().controlUi.allowedOrigins) ? ORIGIN_REFUSED : undefined);
      return foreign === undefined ? { ok: true } : { ok: false, status: 403, message: foreign };
    },
    checkOrigin: (request, client) => (originRefused(request, client, settings().controlUi.allowedOrigins) ? ORIGIN_REFUSED : undefined),
    onRevoked: revocations.on,
    update: (changed) => inForce.update(changed ?? deps.settings()),
    get mode() {
      return settings().mode;
    },
    pairing,
    nodes: createNodePairing(deps),
    login: createLogin({ codes, attempts, pairing, peerOf: who }),
  };
}

/** The client that changed the secret gets its answer before its connection is closed. */
const ANSWER_MS = 250;

export interface OpenAuthDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly env: Env;
  readonly log: Logger;
  readonly runSecret: string;
  /** Has a secret masked from now on. */
  readonly register: (secret: string) => void;
}

/** Who may connect, following the configuration. In token mode there is always a token: one that had to be made is stored in the configuration. */
export async function openAuth(deps: OpenAuthDeps): Promise<Auth> {
  const { config, env, ids, clock, log, register } = deps;
  const saveToken = async (token: string): Promise<void> =>
    void (await config.edit({ kind: "set", path: "gateway.auth.token", value: token }, { by: "gateway" }));
  let settings = await ensureToken(settingsFrom(config.current, env), { ids, saveToken, log });
  const mask = ({ token, password }: typeof settings): void => {
    for (const secret of [token, password]) if (typeof secret === "string") register(secret);
  };
  mask(settings);
  const auth = createAuth({ ...deps, settings: () => settings, resolveSecret: config.resolveSecret, onSecret: register });
  config.onEvent((event) => {
    if (event.kind !== "changed") return;
    const next = settingsFrom(config.current, env);
    // A token that was made here and could not be saved stays good until the file has one.
    settings = next.mode === "token" && next.token === undefined && settings.token !== undefined ? { ...next, token: settings.token } : next;
    mask(settings);
    clock.after(ANSWER_MS, () => void auth.update(settings).catch((error: unknown) => log.error("could not apply the changed credentials", { error })));
  });
  return auth;
}
