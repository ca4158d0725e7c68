import { readFileSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { fileError, systemCode } from "../../base/errors.ts";
import { withFileLock } from "../../base/file-lock.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { OAuthCredential } from "../../protocol/index.ts";
import { withoutTransient } from "./cooldowns.ts";
import { EMPTY_DOCUMENT, credentialOf, parseAuthDocument, secretsOf, type AuthDocument } from "./document.ts";
import type { AuthProfilesDeps } from "./profiles.ts";

/** The agent's file, layered over the main agent's. */
export interface Stores {
  /** Imports old files and other programs' logins, when due. */
  prepare(): Promise<void>;
  /** Both files as one, without cooldowns after transient errors; nothing is copied between them, so that a login is renewed in one file only. */
  merged(): AuthDocument;
  /** The file that contains a profile; the agent's own for a new one. */
  holder(id: string): AuthFile;
  readonly own: AuthFile;
  readonly main: AuthFile;
  isOwn(id: string): boolean;
}

/** The sections of `above` over those of `below`, entry by entry. */
function over(below: AuthDocument, above: AuthDocument): AuthDocument {
  return {
    ...below,
    ...above,
    profiles: { ...below.profiles, ...above.profiles },
    order: { ...below.order, ...above.order },
    lastGood: { ...below.lastGood, ...above.lastGood },
    usageStats: { ...below.usageStats, ...above.usageStats },
    modelFailures: { ...below.modelFailures, ...above.modelFailures },
  };
}

export function createStores(deps: AuthProfilesDeps): Stores {
  const { clock, ids, log, home } = deps;
  const onSecret = (secret: string): void => deps.redactor.register(secret);
  const file = (folder: string, oauthFile: string | undefined): AuthFile =>
    createAuthFile({ folder, clock, ids, log, onSecret, begin: () => importLegacy({ agentDir: folder, oauthFile, log }) });
  const isMain = resolve(deps.agentDir) === resolve(deps.mainAgentDir);
  const main = file(deps.mainAgentDir, deps.oauthFile);
  const own = isMain ? main : file(deps.agentDir, undefined);
  const readAt = new Map<string, number>();
  const reported = new Set<string>();
  let isImported = false;
  let preparing: Promise<void> | undefined;
  /** Both files as one, as long as neither changes. */
  let both: { readonly below: AuthDocument; readonly above: AuthDocument; readonly merged: AuthDocument } | undefined;

  /** Old files are imported when there is no new one yet; checked once per process. */
  async function takeOver(): Promise<void> {
    for (const store of new Set([main, own])) {
      if (store.read() !== undefined) continue;
      const folder = store === main ? deps.mainAgentDir : deps.agentDir;
      if (importLegacy({ agentDir: folder, oauthFile: store === main ? deps.oauthFile : undefined, log }) === EMPTY_DOCUMENT) continue;
      const { profiles } = await store.update((document) => document);
      log.info(`imported old credentials into ${store.path}`, { profiles: Object.keys(profiles) });
    }
    isImported = true;
  }

  async function prepareNow(): Promise<void> {
    if (!isImported) await takeOver();
    const newer = home === undefined ? {} : newerLogins(home, main.read() ?? EMPTY_DOCUMENT, readAt, clock.now());
    if (Object.keys(newer).length > 0) await main.update((document) => ({ ...document, profiles: { ...document.profiles, ...newer } }));
  }

  const isOwn = (id: string): boolean => own === main || own.read()?.profiles[id] !== undefined;
  return {
    own,
    main,
    isOwn,
    prepare() {
      preparing ??= prepareNow().finally(() => (preparing = undefined));
      return preparing;
    },
    merged() {
      const below = main.read() ?? EMPTY_DOCUMENT;
      const above = own === main ? below : (own.read() ?? EMPTY_DOCUMENT);
      if (both?.below === below && both.above === above) return both.merged;
      const merged = withoutTransient(own === main ? below : over(below, above));
      both = { below, above, merged };
      for (const [id, entry] of Object.entries(merged.profiles)) {
        if (credentialOf(entry) || reported.has(id)) continue;
        reported.add(id);
        log.warn(`the auth profile ${id} is invalid and is ignored; it stays in the file`, { id });
      }
      return merged;
    },
    holder: (id) => (isOwn(id) || main.read()?.profiles[id] === undefined ? own : main),
  };
}

const STORE_NAME = "auth-profiles.json";
const LOCK_TIMEOUT_MS = 20_000;
const STALE_MS = 30_000;

export interface AuthFile {
  readonly path: string;
  /** The current content; undefined when there is no file. Read again only when it changed. */
  read(): AuthDocument | undefined;
  /** Changes the file under a lock. Returning the same value writes nothing. */
  update(change: (document: AuthDocument) => AuthDocument): Promise<AuthDocument>;
  /** Runs `work` exclusively among all processes that use `name` of this file. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>;
}

interface AuthFileDeps {
  readonly folder: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Logger;
  readonly onSecret: (secret: string) => void;
  /** Initial content of a missing file. */
  readonly begin: () => AuthDocument;
}

interface Cached {
  readonly stamp: string;
  readonly document: AuthDocument | undefined;
}

/** One `auth-profiles.json`: owner-only, replaced atomically, changed under a lock shared by all processes. */
function createAuthFile(deps: AuthFileDeps): AuthFile {
  const path = join(deps.folder, STORE_NAME);
  let cached: Cached | undefined;

  function stampOf(): string {
    try {
      // Called several times per call: an error created only to be caught would be most of its cost.
      const found = statSync(path, { throwIfNoEntry: false });
      return found ? `${found.ino}-${found.size}-${found.mtimeMs}` : "";
    } catch (error) {
      throw fileError(path, "could not read the credentials", error);
    }
  }

  /** An unreadable file is moved, never overwritten: its owner may want it back. */
  function setAside(problem: string): undefined {
    const aside = `${path}.damaged-${new Date(deps.clock.now()).toISOString().replaceAll(/[:.]/g, "-")}-${deps.ids.hex(2)}`;
    try {
      renameSync(path, aside);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw fileError(path, "could not move the damaged file aside", error);
      return undefined;
    }
    deps.log.error(`${path} could not be used: ${problem}; it was moved to ${basename(aside)}. Repair it and move it back, or log in again`, {
      path,
      kept: aside,
    });
    return undefined;
  }

  function parse(): AuthDocument | undefined {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch (error) {
      if (systemCode(error) === "ENOENT") return undefined;
      throw fileError(path, "could not read the credentials", error);
    }
    const parsed = parseAuthDocument(text);
    if ("problem" in parsed) return setAside(parsed.problem);
    const { document } = parsed;
    for (const entry of Object.values(document.profiles)) for (const secret of secretsOf(entry)) deps.onSecret(secret);
    return document;
  }

  function read(): AuthDocument | undefined {
    const stamp = stampOf();
    if (cached?.stamp !== stamp) cached = { document: parse(), stamp };
    return cached.document;
  }

  /** A link to the real file stays a link. */
  function target(): string {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  }

  const alone = <T>(lock: string, work: () => Promise<T> | T): Promise<T> =>
    withFileLock(lock, { timeoutMs: LOCK_TIMEOUT_MS, staleMs: STALE_MS, ids: deps.ids }, work);

  return {
    path,
    read,
    async update(change) {
      ensureFolder(deps.folder);
      return alone(`${path}.lock`, () => {
        const before = read();
        const base = before ?? deps.begin();
        const after = change(base);
        if (after === before || (before === undefined && after === EMPTY_DOCUMENT)) return after;
        for (const entry of Object.values(after.profiles)) for (const secret of secretsOf(entry)) deps.onSecret(secret);
        const file = target();
        writeAtomic(file, `${JSON.stringify(after, null, 2)}\n`, { mode: 0o600, temporary: `${file}.${deps.ids.hex(4)}.tmp` });
        cached = { document: after, stamp: stampOf() };
        return after;
      });
    },
    alone: (name, work) => alone(`${path}.${name.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.lock`, work),
  };
}

interface LegacySources {
  readonly agentDir: string;
  /** `credentials/oauth.json`; read for the main agent only. */
  readonly oauthFile?: string | undefined;
  readonly log: Logger;
}

function readObject(path: string, log: Logger): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return {};
    throw fileError(path, "could not read old credentials", error);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Reported below; the parser's message would quote secrets.
  }
  log.warn(`${path} has old credentials but is not a JSON object; it was left unchanged and not imported`, { path });
  return {};
}

/** An entry of the old files: the provider was its key, and an OAuth login had no type. */
function entryOf(provider: string, value: unknown): unknown {
  if (!isRecord(value)) return undefined;
  const type = value["type"] ?? (value["access"] !== undefined ? "oauth" : value["key"] !== undefined ? "api_key" : "token");
  const entry = { ...value, type, provider: typeof value["provider"] === "string" ? value["provider"] : provider };
  return credentialOf(entry) ? entry : undefined;
}

/** Initial content of a new `auth-profiles.json`: the logins of `auth.json` and `oauth.json`. The old files stay where they are. */
function importLegacy({ agentDir, oauthFile, log }: LegacySources): AuthDocument {
  const profiles: Record<string, unknown> = {};
  for (const path of [join(agentDir, "auth.json"), ...(oauthFile === undefined ? [] : [oauthFile])]) {
    const found = Object.entries(readObject(path, log));
    for (const [provider, value] of found) {
      const entry = entryOf(provider, value);
      if (entry !== undefined) profiles[`${provider}:default`] ??= entry;
      else log.warn(`an entry of ${path} is not a known kind of credential; it was not imported`, { path, provider });
    }
  }
  return Object.keys(profiles).length > 0 ? { ...EMPTY_DOCUMENT, profiles } : EMPTY_DOCUMENT;
}

/** Logins that another program made and keeps fresh, with the user's consent for its own provider. */
const SOURCES = [
  { provider: "qwen-portal", id: "qwen-portal:qwen-cli", file: [".qwen", "oauth_creds.json"] },
  { provider: "minimax-portal", id: "minimax-portal:minimax-cli", file: [".minimax", "oauth_creds.json"] },
] as const;

const REREAD_MS = 15 * 60_000;
/** Our copy is checked when it has less than this left. */
const NEAR_END_MS = 10 * 60_000;

function readLogin(path: string, provider: string): OAuthCredential | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isRecord(value)) return undefined;
    const { access_token: access, refresh_token: refresh, expiry_date: expires } = value;
    if (typeof access !== "string" || typeof refresh !== "string" || typeof expires !== "number") return undefined;
    const url = value["resource_url"];
    return { type: "oauth", provider, access, refresh, expires, ...(typeof url === "string" ? { resourceUrl: url } : {}) };
  } catch {
    // Missing, unreadable, or being written: the next check finds it.
    return undefined;
  }
}

/** Logins of other programs that are newer than in `document`. Their files are read every quarter of an hour, and whenever our copy is about to expire. */
function newerLogins(home: string, document: AuthDocument, readAt: Map<string, number>, now: number): Readonly<Record<string, OAuthCredential>> {
  const found: Record<string, OAuthCredential> = {};
  for (const { provider, id, file } of SOURCES) {
    const entry = document.profiles[id];
    const stored = entry === undefined ? undefined : credentialOf(entry);
    const copy = stored?.type === "oauth" ? stored : undefined;
    const nearEnd = copy !== undefined && (copy.expires ?? 0) <= now + NEAR_END_MS;
    if (!nearEnd && now - (readAt.get(id) ?? -REREAD_MS) < REREAD_MS) continue;
    readAt.set(id, now);
    const login = readLogin(join(home, ...file), provider);
    if (!login || (copy && (copy.expires ?? 0) >= login.expires)) continue;
    found[id] = copy ? { ...copy, ...login } : login;
  }
  return found;
}
