import type { Clock } from "../../base/clock.ts";
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
  /** Milliseconds until the peer may try again; undefined when it may now. Never for this machine, unless the configuration says so. */
  lockedFor(peer: Peer): number | undefined;
  fail(peer: Peer): void;
  /**
   * Delays the check of a secret. Only callers on this machine are delayed, after many wrong secrets from it: a guesser here must not lock
   * out the owner, and so is slowed down. The wait grows and is bounded.
   */
  pace(peer: Peer): Promise<void>;
}

/** Wrong secrets that are answered at once, as a share of those that lock out others. */
const FREE_SHARE = 0.5;
const FIRST_WAIT_MS = 100;
/** The owner with the right secret waits no longer than this while another caller guesses. */
export const LONGEST_WAIT_MS = 1000;

/** How long a secret is held back after so many more wrong ones than are free. */
export const waitMs = (over: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(over, 10));

export interface AttemptsDeps {
  readonly settings: () => Pick<ResolvedSettings, "rateLimit">;
  readonly budget: FailureBudget;
  readonly clock: Pick<Clock, "monotonic" | "after">;
}

/** Times of wrong secrets from this machine within the window; never more than matter. */
function createLocalFailures({ settings, clock }: Omit<AttemptsDeps, "budget">): { fail(): void; count(): number } {
  const times: number[] = [];
  const most = 1000;
  return {
    fail() {
      times.push(clock.monotonic());
      if (times.length > most) times.shift();
    },
    count() {
      const since = clock.monotonic() - settings().rateLimit.windowMs;
      while ((times[0] ?? Infinity) <= since) times.shift();
      return times.length;
    },
  };
}

export function createAttempts({ settings, budget, clock }: AttemptsDeps): Attempts {
  const exempt = (peer: Peer): boolean => peer.local && settings().rateLimit.exemptLoopback;
  const local = createLocalFailures({ settings, clock });
  /** Those that wait count too: guesses side by side slow each other down. */
  let waiting = 0;
  return {
    lockedFor: (peer) => (exempt(peer) ? undefined : budget.lockedFor(peer.budgetKey)),
    fail(peer) {
      if (exempt(peer)) local.fail();
      else budget.fail(peer.budgetKey);
    },
    async pace(peer) {
      if (!exempt(peer)) return;
      const over = local.count() + waiting - Math.floor(settings().rateLimit.maxAttempts * FREE_SHARE);
      if (over < 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting += 1;
      clock.after(waitMs(over), resolve);
      await promise;
      waiting -= 1;
    },
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
function compareShared(proof: Proof, settings: ResolvedSettings): SecretVerdict {
  const { token, password } = proof.credentials;
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
    // Random, and new at each start: it cannot be guessed, and this user's own programs never wait.
    if (runSecret !== undefined && credentials.token && peer.local && equalSecrets(credentials.token, runSecret)) return { ok: true, method: "run-secret" };
    if (credentials.token || credentials.password) await attempts.pace(peer);
    const shared = compareShared(proof, settings());
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
