import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import type { Redactor } from "../../base/redaction.ts";
import { isRecord } from "../../base/records.ts";
import { modelFailed } from "../failure.ts";
import { askJson, type Fetch } from "../transport/index.ts";

/** The short-lived token that a GitHub token is exchanged for, with its own base URL. */
export interface CopilotAccess {
  readonly token: string;
  readonly baseUrl: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export interface CopilotExchangeDeps {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly redactor: Pick<Redactor, "register" | "text">;
  readonly version: string;
  /** Folder that caches the token across restarts; without it every process requests one. */
  readonly folder?: string | undefined;
  readonly fetch?: Fetch | undefined;
}

const URL_OF_TOKEN = "https://api.github.com/copilot_internal/v2/token";
const FILE = "github-copilot.token.json";
const DEFAULT_BASE = "https://api.individual.githubcopilot.com";
const TIMEOUT_MS = 15_000;
/** A token is renewed this long before it expires, so that none expires in flight. */
const EARLY_MS = 5 * 60_000;

/** The base URL in a token: `proxy-ep=proxy.…` stands for `https://api.…`. */
export function copilotBaseUrl(token: string): string {
  const proxy = /(?:^|;)\s*proxy-ep=([^;\s]+)/i.exec(token)?.[1];
  if (proxy === undefined) return DEFAULT_BASE;
  const host = proxy
    .replace(/^https?:\/\//, "")
    .replace(/\/.*$/, "")
    .replace(/^proxy\./i, "api.");
  // A token is only ever sent to GitHub's own hosts.
  return /^[a-z0-9.-]+\.(?:githubcopilot\.com|ghe\.com)$/i.test(host) ? `https://${host}` : DEFAULT_BASE;
}

const isExchanged = (token: string): boolean => /(?:^|;)(?:tid|proxy-ep)=/.test(token);

/** Exchanges a GitHub token for the short-lived token; concurrent callers share one request. Rejects with `MODEL_FAILED`. */
export function createCopilotExchange(deps: CopilotExchangeDeps): (githubToken: string) => Promise<CopilotAccess> {
  const known = new Map<string, CopilotAccess>();
  const running = new Map<string, Promise<CopilotAccess>>();
  const isFresh = (access: CopilotAccess | undefined): access is CopilotAccess => access !== undefined && access.expires - EARLY_MS > deps.clock.now();

  async function renew(githubToken: string, account: string): Promise<CopilotAccess> {
    const cached = readCache(deps, account);
    const access = isFresh(cached) ? cached : await ask(deps, githubToken);
    deps.redactor.register(access.token);
    known.set(account, access);
    if (access !== cached) writeCache(deps, account, access);
    return access;
  }

  return async (githubToken) => {
    if (isExchanged(githubToken)) return { token: githubToken, baseUrl: copilotBaseUrl(githubToken), expires: Number.MAX_SAFE_INTEGER };
    const account = createHash("sha256").update(githubToken).digest("hex").slice(0, 16);
    const access = known.get(account);
    if (isFresh(access)) return access;
    let renewal = running.get(account);
    if (!renewal) {
      renewal = renew(githubToken, account).finally(() => running.delete(account));
      running.set(account, renewal);
    }
    return renewal;
  };
}

async function ask({ clock, version, fetch, redactor }: CopilotExchangeDeps, githubToken: string): Promise<CopilotAccess> {
  const headers = { authorization: `Bearer ${githubToken}` };
  const { status, value } = await askJson({ url: URL_OF_TOKEN, headers, version, clock, fetch, timeoutMs: TIMEOUT_MS }).catch((error: unknown) => {
    const code = error instanceof AppError ? (error.code === "TIMEOUT" ? "ETIMEDOUT" : error.details["code"]) : undefined;
    throw modelFailed({ phase: "connect", text: redactor.text(messageOf(error)), ...(typeof code === "string" ? { code } : {}) }, error);
  });
  const { token, expires_at: at, message } = isRecord(value) ? value : {};
  if (status < 400 && typeof token === "string" && typeof at === "number") {
    return { token, baseUrl: copilotBaseUrl(token), expires: at < 1e11 ? at * 1000 : at };
  }
  const reason = typeof message === "string" ? `: ${redactor.text(message.slice(0, 200))}` : "";
  // An account without Copilot is as much an account problem as a wrong token.
  const counted = status >= 500 || status === 429 ? status : 401;
  throw modelFailed({ phase: "headers", status: counted, text: `GitHub returned no Copilot token for this login (${status})${reason}` });
}

/** The documented file holds one token; the account's hash keeps another account from using it. */
function readCache({ folder, redactor }: CopilotExchangeDeps, account: string): CopilotAccess | undefined {
  if (folder === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    const { token, expiresAt, account: owner } = isRecord(value) ? value : {};
    if (typeof token !== "string" || typeof expiresAt !== "number" || owner !== account) return undefined;
    redactor.register(token);
    return { token, baseUrl: copilotBaseUrl(token), expires: expiresAt };
  } catch {
    return undefined; // Missing or damaged: it is requested again.
  }
}

function writeCache({ folder, ids, clock }: CopilotExchangeDeps, account: string, { token, expires }: CopilotAccess): void {
  if (folder === undefined) return;
  const path = join(folder, FILE);
  try {
    ensureFolder(folder);
    const text = `${JSON.stringify({ token, expiresAt: expires, updatedAt: clock.now(), account }, null, 2)}\n`;
    writeAtomic(path, text, { mode: 0o600, temporary: `${path}.${ids.hex(4)}.tmp` });
  } catch {
    // The next process requests it again; this one has its token.
  }
}
