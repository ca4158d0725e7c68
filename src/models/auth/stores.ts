import { join, resolve } from "node:path";
import type { AuthProfilesDeps } from "./profiles.ts";
import { EMPTY_DOCUMENT, credentialOf, type AuthDocument } from "./store/document.ts";
import { createAuthFile, type AuthFile } from "./store/file.ts";
import { readFileSync } from "node:fs";
import type { OAuthCredential } from "../../protocol/index.ts";
import { isObject } from "../../config/index.ts";
import { fileError, systemCode } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";

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
    if (isObject(value)) return value;
  } catch {
    // Reported below; the parser's message would quote secrets.
  }
  log.warn(`${path} holds old credentials but is not a JSON object; it is left as it is and nothing is taken from it`, { path });
  return {};
}

/** An entry of the old files: the provider was its key, and an OAuth login had no type. */
function entryOf(provider: string, value: unknown): unknown {
  if (!isObject(value)) return undefined;
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
      else log.warn(`an entry of ${path} is no credential that is known here; it is not taken over`, { path, provider });
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
    if (!isObject(value)) return undefined;
    const { access_token: access, refresh_token: refresh, expiry_date: expires } = value;
    if (typeof access !== "string" || typeof refresh !== "string" || typeof expires !== "number") return undefined;
    const url = value["resource_url"];
    return { type: "oauth", provider, access, refresh, expires, ...(typeof url === "string" ? { resourceUrl: url } : {}) };
  } catch {
    // Missing, unreadable, or being written: the next check finds it.
    return undefined;
  }
}

interface ExternalLogins {
  /** Profiles that are newer elsewhere than in `document`. */
  newer(document: AuthDocument): Readonly<Record<string, OAuthCredential>>;
}

/** Watches the files of other programs: every quarter of an hour, and whenever our copy is about to expire. */
function createExternalLogins(home: string, now: () => number): ExternalLogins {
  const readAt = new Map<string, number>();
  return {
    newer(document) {
      const found: Record<string, OAuthCredential> = {};
      for (const { provider, id, file } of SOURCES) {
        const stored = credentialOf(document.profiles[id]);
        const ours = stored?.type === "oauth" ? stored : undefined;
        const nearEnd = ours !== undefined && (ours.expires ?? 0) <= now() + NEAR_END_MS;
        if (!nearEnd && now() - (readAt.get(id) ?? -REREAD_MS) < REREAD_MS) continue;
        readAt.set(id, now());
        const login = readLogin(join(home, ...file), provider);
        if (!login || (ours && (ours.expires ?? 0) >= login.expires)) continue;
        found[id] = ours ? { ...ours, ...login } : login;
      }
      return found;
    },
  };
}

/** The agent's file, layered over the main agent's. */
export interface Stores {
  /** Imports old files and other programs' logins, when due. */
  prepare(): Promise<void>;
  /** Both files as one; nothing is copied between them, so that a login is renewed in one file only. */
  merged(): AuthDocument;
  /** The file that contains a profile; the agent's own for a new one. */
  holder(id: string): AuthFile;
  readonly own: AuthFile;
  readonly main: AuthFile;
  isOwn(id: string): boolean;
}

type Section = Readonly<Record<string, unknown>>;

function over(below: AuthDocument, above: AuthDocument): AuthDocument {
  const both = (name: keyof AuthDocument): Section => ({ ...(below[name] as Section | undefined), ...(above[name] as Section | undefined) });
  return {
    ...below,
    ...above,
    profiles: both("profiles"),
    order: both("order") as NonNullable<AuthDocument["order"]>,
    lastGood: both("lastGood") as NonNullable<AuthDocument["lastGood"]>,
    usageStats: both("usageStats") as NonNullable<AuthDocument["usageStats"]>,
    modelFailures: both("modelFailures") as NonNullable<AuthDocument["modelFailures"]>,
  };
}

export function createStores(deps: AuthProfilesDeps): Stores {
  const { clock, ids, log } = deps;
  const onSecret = (secret: string): void => deps.redactor.register(secret);
  const file = (folder: string, oauthFile: string | undefined): AuthFile =>
    createAuthFile({ folder, clock, ids, log, onSecret, begin: () => importLegacy({ agentDir: folder, oauthFile, log }) });
  const isMain = resolve(deps.agentDir) === resolve(deps.mainAgentDir);
  const main = file(deps.mainAgentDir, deps.oauthFile);
  const own = isMain ? main : file(deps.agentDir, undefined);
  const external = deps.home === undefined ? undefined : createExternalLogins(deps.home, () => clock.now());
  const reported = new Set<string>();
  let looked = false;
  let preparing: Promise<void> | undefined;

  /** Old files are imported when there is no new one yet; checked once per process. */
  async function prepareNow(): Promise<void> {
    if (!looked) {
      for (const store of new Set([main, own])) if (store.read() === undefined) await takeOver(store);
      looked = true;
    }
    const newer = external?.newer(main.read() ?? EMPTY_DOCUMENT) ?? {};
    if (Object.keys(newer).length > 0) await main.update((document) => ({ ...document, profiles: { ...document.profiles, ...newer } }));
  }

  async function takeOver(store: AuthFile): Promise<void> {
    const folder = store === main ? deps.mainAgentDir : deps.agentDir;
    if (importLegacy({ agentDir: folder, oauthFile: store === main ? deps.oauthFile : undefined, log }) === EMPTY_DOCUMENT) return;
    const { profiles } = await store.update((document) => document);
    log.info(`took over old credentials into ${store.path}`, { profiles: Object.keys(profiles) });
  }

  /** An unreadable entry is preserved, and reported once. */
  function reportUnreadable(document: AuthDocument): AuthDocument {
    for (const [id, entry] of Object.entries(document.profiles)) {
      if (credentialOf(entry) || reported.has(id)) continue;
      reported.add(id);
      log.warn(`the auth profile ${id} cannot be understood and is not used; it stays in the file`, { id });
    }
    return document;
  }

  const isOwn = (id: string): boolean => own === main || own.read()?.profiles[id] !== undefined;
  return {
    own,
    main,
    isOwn,
    async prepare() {
      preparing ??= prepareNow().finally(() => (preparing = undefined));
      await preparing;
    },
    merged() {
      const below = main.read() ?? EMPTY_DOCUMENT;
      return reportUnreadable(own === main ? below : over(below, own.read() ?? EMPTY_DOCUMENT));
    },
    holder: (id) => (isOwn(id) || main.read()?.profiles[id] === undefined ? own : main),
  };
}
