import { resolve } from "node:path";
import type { AuthProfilesDeps } from "./profiles.ts";
import { credentialOf, EMPTY_DOCUMENT, type AuthDocument } from "./store/document.ts";
import { createExternalLogins } from "./store/external.ts";
import { createAuthFile, type AuthFile } from "./store/file.ts";
import { importLegacy } from "./store/legacy.ts";

/** The agent's file over the main agent's. */
export interface Stores {
  /** Takes over old files and other programs' logins, when it is time for it. */
  prepare(): Promise<void>;
  /** Both files as one; nothing is copied between them, so that a login has one place where it is renewed. */
  merged(): AuthDocument;
  /** The file that holds a profile; the agent's own for one that is nowhere. */
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
  const told = new Set<string>();
  let looked = false;
  let preparing: Promise<void> | undefined;

  /** Old files are taken over when there is no new one yet; that is looked at once per process. */
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

  /** An entry that we cannot read is kept, and named once. */
  function tell(document: AuthDocument): AuthDocument {
    for (const [id, entry] of Object.entries(document.profiles)) {
      if (credentialOf(entry) || told.has(id)) continue;
      told.add(id);
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
      return tell(own === main ? below : over(below, own.read() ?? EMPTY_DOCUMENT));
    },
    holder: (id) => (isOwn(id) || main.read()?.profiles[id] === undefined ? own : main),
  };
}
