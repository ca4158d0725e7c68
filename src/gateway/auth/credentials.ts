import { isLoopback, parseAddress } from "./peer/address.ts";
import type { Credentials, SecretVerdict } from "./auth.ts";
import type { TokenVerdict } from "./devices/pairing.ts";
import { headerOf, type Peer, type PeerRequest } from "./peer/peer.ts";
import type { FailureBudget } from "./rate-limit.ts";
import { equalSecrets } from "../../base/equal-secrets.ts";
import type { AuthSettings } from "./settings.ts";
import type { Whois } from "./tailscale.ts";

/** Settings with their secrets fetched. A secret that could not be had is undefined: nothing matches it. */
export interface ResolvedSettings extends Omit<AuthSettings, "token" | "password"> {
  readonly token: string | undefined;
  readonly password: string | undefined;
}

export interface CredentialsDeps {
  readonly settings: () => ResolvedSettings;
  readonly attempts: Attempts;
  /** Known to the same user's programs through the lock file; good from this machine only. */
  readonly runSecret: string | undefined;
  readonly whois: Whois;
}

/** The one budget of failed proofs, whatever form they have. */
export interface Attempts {
  /** Milliseconds until the peer may try again; undefined when it may now. */
  lockedFor(peer: Peer): number | undefined;
  fail(peer: Peer): void;
}

export function createAttempts(settings: () => Pick<ResolvedSettings, "rateLimit">, budget: FailureBudget): Attempts {
  const exempt = (peer: Peer): boolean => peer.local && settings().rateLimit.exemptLoopback;
  return {
    lockedFor: (peer) => (exempt(peer) ? undefined : budget.lockedFor(peer.budgetKey)),
    fail: (peer) => void (exempt(peer) || budget.fail(peer.budgetKey)),
  };
}

export interface Proof {
  readonly credentials: Credentials;
  readonly peer: Peer;
  /** Where headers can prove a user; without it they cannot. */
  readonly request?: PeerRequest | undefined;
  readonly tailscale?: boolean;
  /** Asked when the shared secret does not fit: does the token belong to the device? */
  readonly deviceToken?: (token: string) => Promise<TokenVerdict>;
}

function compare(kind: "token" | "password", presented: string | undefined, expected: string | undefined): SecretVerdict {
  if (expected === undefined) return { ok: false, reason: `${kind}_missing_config` };
  if (!presented) return { ok: false, reason: `${kind}_missing` };
  return equalSecrets(presented, expected) ? { ok: true, method: kind } : { ok: false, reason: `${kind}_mismatch` };
}

function proxyUser({ peer, request }: Proof, settings: ResolvedSettings): string | undefined {
  const rules = settings.trustedProxy;
  if (!rules || !request || !peer.trustedProxy) return undefined;
  if (rules.requiredHeaders.some((name) => !headerOf(request, name.toLowerCase())?.trim())) return undefined;
  const user = headerOf(request, rules.userHeader)?.trim();
  return user && (rules.allowUsers.length === 0 || rules.allowUsers.includes(user)) ? user : undefined;
}

/** The login Tailscale Serve passed on, when it is the one of the address it passed on too. */
async function tailscaleUser({ peer, request }: Proof, whois: Whois): Promise<string | undefined> {
  if (!request || peer.local) return undefined;
  const login = headerOf(request, "tailscale-user-login")?.trim();
  const socket = parseAddress(peer.socketIp);
  const from = parseAddress(headerOf(request, "x-forwarded-for") ?? "");
  if (!login || !from || !socket || !isLoopback(socket)) return undefined;
  if (!headerOf(request, "x-forwarded-proto") || !headerOf(request, "x-forwarded-host")) return undefined;
  return (await whois(from.text))?.toLowerCase() === login.toLowerCase() ? login : undefined;
}

/** The shared secret, or what stands for it in this mode. */
function compareShared(proof: Proof, settings: ResolvedSettings, runSecret: string | undefined): SecretVerdict {
  const { token, password } = proof.credentials;
  if (runSecret !== undefined && token && proof.peer.local && equalSecrets(token, runSecret)) return { ok: true, method: "run-secret" };
  if (settings.mode === "none") return { ok: true, method: "none" };
  if (settings.mode === "token") return compare("token", token, settings.token);
  if (settings.mode === "password") return compare("password", password, settings.password);
  const user = proxyUser(proof, settings);
  return user === undefined ? { ok: false, reason: "unauthorized" } : { ok: true, method: "trusted-proxy", user };
}

/** True for the proofs that are a secret both sides know. */
export function isShared(verdict: SecretVerdict): boolean {
  return verdict.ok && (verdict.method === "token" || verdict.method === "password" || verdict.method === "run-secret");
}

/**
 * Checks a proof of any form against one budget. An address that is locked out is refused even with the right secret, and again after
 * anything that was waited for: guesses that run side by side are one budget too. Saying nothing is not a failed guess.
 */
export function createCredentialCheck({ settings, attempts, runSecret, whois }: CredentialsDeps): (proof: Proof) => Promise<SecretVerdict> {
  return async (proof) => {
    const { credentials, peer } = proof;
    const locked = (): SecretVerdict | undefined => {
      const retryAfterMs = attempts.lockedFor(peer);
      return retryAfterMs === undefined ? undefined : { ok: false, reason: "rate_limited", retryAfterMs };
    };
    const before = locked();
    if (before) return before;
    const shared = compareShared(proof, settings(), runSecret);
    if (shared.ok) return shared;
    if (!credentials.token && !credentials.password) {
      const user = proof.tailscale && settings().allowTailscale ? await tailscaleUser(proof, whois) : undefined;
      return user === undefined ? shared : (locked() ?? { ok: true, method: "tailscale", user });
    }
    const known = credentials.token && proof.deviceToken ? await proof.deviceToken(credentials.token) : undefined;
    const meanwhile = locked();
    if (meanwhile) return meanwhile;
    if (known === "fits") return { ok: true, method: "device-token" };
    attempts.fail(peer);
    if (known === "mismatch") return { ok: false, reason: "device_token_mismatch" };
    return known === "not-paired" ? { ...shared, notPaired: true } : shared;
  };
}
