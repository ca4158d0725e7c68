/** The browser of each profile, created on first use. */
import { dirname, join } from "node:path";
import { AppError } from "../base/errors.ts";
import type { BrowserDeps } from "./create-browser.ts";
import { storeDownload, type FilesDeps } from "./files.ts";
import type { FindFacts } from "./find-browser.ts";
import { relayPort } from "./profiles.ts";
import { createRelays } from "./relay/relay.ts";
import { createSession, type BrowserSession } from "./session.ts";
import { profileNamed, type BrowserSettings, type ProfileSettings } from "./settings.ts";
import { createTabNumbers } from "./tab.ts";

export interface ProfileSessions extends AsyncDisposable {
  readonly known: ReadonlyMap<string, BrowserSession>;
  /** The profile's browser; throws when it may not be used. */
  of(name?: string): BrowserSession;
  files(profile: ProfileSettings): FilesDeps;
  /** Stops the profile's browser and removes it. */
  drop(name: string): Promise<void>;
}

export function createProfileSessions(deps: BrowserDeps, find: FindFacts, settings: () => BrowserSettings): ProfileSessions {
  const { config, clock, ids, log, lookup } = deps;
  const stateDir = config.paths.state;
  const known = new Map<string, BrowserSession>();
  const relays = createRelays({ clock, ids, log, stateDir, policy: () => settings().policy, lookup });
  const shared = ({ name, cdpUrl }: ProfileSettings) => relays.connect(name, relayPort(config, cdpUrl, deps.gatewayPort?.()));

  const files = (profile: ProfileSettings): FilesDeps => ({
    clock,
    ids,
    stateDir,
    downloadsDir: join(dirname(profile.userDataDir), "downloads"),
    maxDownloadBytes: deps.maxDownloadBytes,
  });

  function create(profile: ProfileSettings): BrowserSession {
    const stored = files(profile);
    const nextTab = createTabNumbers(join(dirname(profile.userDataDir), "last-tab"), ids);
    const { downloadsDir } = stored;
    return createSession(profile, {
      ...find,
      nextTab,
      settings,
      lookup,
      downloadsDir,
      ids,
      clock,
      log,
      store: (download) => storeDownload(download, stored),
      shared,
    });
  }

  return {
    known,
    files,
    of(name) {
      const now = settings();
      if (!now.enabled) throw new AppError("UNAVAILABLE", "the browser is turned off: set browser.enabled to true");
      const profile = profileNamed(now, name);
      const existing = known.get(profile.name);
      if (existing && (existing.running() !== undefined || JSON.stringify(existing.profile) === JSON.stringify(profile))) return existing;
      if (profile.kind === "own" && now.attachOnly)
        throw new AppError(
          "UNAVAILABLE",
          `browser.attachOnly is set and the profile ${profile.name} has no cdpUrl: set browser.profiles.${profile.name}.cdpUrl, or turn attachOnly off`,
        );
      const created = create(profile);
      known.set(profile.name, created);
      return created;
    },
    async drop(name) {
      const existing = known.get(name);
      known.delete(name);
      await existing?.stop();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...known.values()].map((one) => one.stop()));
      await relays[Symbol.asyncDispose]();
    },
  };
}
