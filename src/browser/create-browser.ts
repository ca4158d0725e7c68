import { homedir } from "node:os";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Download } from "playwright-core";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { AddressLookup } from "../base/guarded-fetch.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { formatBytes } from "../base/text.ts";
import type { Config } from "../config/index.ts";
import { storeDownload, type FilesDeps } from "./files.ts";
import { detectBrowser, type FindFacts, type FoundBrowser } from "./find-browser.ts";
import { shownAddress } from "./launch.ts";
import { createSession, type BrowserSession } from "./session.ts";
import { browserSettings, profileNamed, type BrowserSettings, type ProfileSettings } from "./settings.ts";
import type { Tab } from "./tab.ts";

export interface BrowserDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Looks names up; the system's way when absent. */
  readonly lookup?: AddressLookup | undefined;
  /** Largest download in bytes. */
  readonly maxDownloadBytes?: number | undefined;
}

/** Who asks: the tab that is meant when none is named belongs to the caller. */
export interface Caller {
  readonly key: string;
  readonly profile?: string | undefined;
  readonly signal: AbortSignal;
}

export interface BrowserStatus {
  readonly enabled: boolean;
  readonly profile: string;
  readonly driver: "openclaw" | "extension";
  readonly running: boolean;
  readonly cdpReady: boolean;
  readonly cdpHttp: boolean;
  readonly pid: number | null;
  readonly cdpPort: number | null;
  readonly cdpUrl: string | null;
  readonly chosenBrowser: string | null;
  readonly detectedBrowser: string | null;
  readonly detectedExecutablePath: string | null;
  readonly userDataDir: string | null;
  readonly color: string;
  readonly headless: boolean;
  readonly noSandbox: boolean;
  readonly executablePath: string | null;
  readonly attachOnly: boolean;
  readonly tabs: number;
}

export interface ProfileStatus extends Pick<ProfileSettings, "name" | "color"> {
  readonly cdpPort: number | null;
  readonly cdpUrl: string | null;
  readonly running: boolean;
  readonly tabCount: number;
  readonly isDefault: boolean;
  readonly isRemote: boolean;
  /** Why it cannot be used. */
  readonly unavailable?: string | undefined;
}

/** The browsers of all profiles. */
export interface Browser extends AsyncDisposable {
  settings(): BrowserSettings;
  status(profile?: string): BrowserStatus;
  profiles(): readonly ProfileStatus[];
  /** The profile's browser; throws when it may not be used. */
  session(profile?: string): BrowserSession;
  files(profile?: string): FilesDeps;
  /** The tab of that id, or the caller's own; throws when there is none. */
  tabFor(caller: Caller, id?: string): Promise<Tab>;
  choose(caller: Caller, tab: Tab): void;
  /** Ends the profile's browser and removes everything it has stored. */
  reset(profile?: string): Promise<{ readonly removed: string }>;
  /** Ends all browsers; the next request starts them with the settings and the tabs there are then. */
  reload(): Promise<void>;
  readonly clock: Clock;
  readonly lookup?: AddressLookup | undefined;
}

const NO_RELAY = "sharing a tab of Chrome through an extension is not available in this version; use the profile openclaw";
const MAX_CALLERS = 1000;

type Sessions = ReadonlyMap<string, BrowserSession>;

const addressOf = ({ cdpUrl }: ProfileSettings): string | null => (cdpUrl === undefined ? null : shownAddress(cdpUrl));

function statusOf(now: BrowserSettings, profile: ProfileSettings, sessions: Sessions, find: FindFacts): BrowserStatus {
  const known = sessions.get(profile.name);
  const running = known?.running();
  const detected = detectBrowser(find);
  const chosen: FoundBrowser | undefined = running?.program ?? (now.executablePath === undefined ? detected : { kind: "custom", path: now.executablePath });
  return {
    enabled: now.enabled,
    profile: profile.name,
    driver: profile.kind === "relay" ? "extension" : "openclaw",
    running: running !== undefined,
    cdpReady: running !== undefined,
    cdpHttp: running !== undefined && (profile.cdpPort !== undefined || profile.cdpUrl !== undefined),
    pid: running?.pid ?? null,
    cdpPort: profile.cdpPort ?? null,
    cdpUrl: addressOf(profile),
    chosenBrowser: chosen?.kind ?? null,
    detectedBrowser: detected?.kind ?? null,
    detectedExecutablePath: detected?.path ?? null,
    userDataDir: profile.kind === "own" ? profile.userDataDir : null,
    color: profile.color,
    headless: now.headless,
    noSandbox: now.noSandbox,
    executablePath: now.executablePath ?? null,
    attachOnly: now.attachOnly,
    tabs: known?.tabs().length ?? 0,
  };
}

function profilesOf(now: BrowserSettings, sessions: Sessions): readonly ProfileStatus[] {
  return now.profiles.map((profile) => ({
    name: profile.name,
    color: profile.color,
    cdpPort: profile.cdpPort ?? null,
    cdpUrl: addressOf(profile),
    running: sessions.get(profile.name)?.running() !== undefined,
    tabCount: sessions.get(profile.name)?.tabs().length ?? 0,
    isDefault: profile.name === now.defaultProfile,
    isRemote: profile.kind === "attached",
    ...(profile.kind === "relay" ? { unavailable: NO_RELAY } : {}),
  }));
}

/** Stores a download and says where it is. */
const storing =
  (files: FilesDeps) =>
  async (download: Download): Promise<string> => {
    const { path, name, bytes } = await storeDownload(download, files);
    return `downloaded ${JSON.stringify(name.slice(0, 100))} (${formatBytes(bytes)}) to ${path}`;
  };

export function createBrowser(deps: BrowserDeps): Browser {
  const { config, clock, ids, log } = deps;
  const find: FindFacts = { platform: process.platform, env: config.env(), home: homedir() };
  const isRoot = process.getuid?.() === 0;
  const stateDir = config.paths.state;
  const settings = (): BrowserSettings => browserSettings({ config: config.current, stateDir, env: config.env(), platform: process.platform, isRoot });
  const sessions = new Map<string, BrowserSession>();
  const currentTabs = new Map<string, string>();
  const filesOf = (profile: ProfileSettings): FilesDeps => ({
    clock,
    ids,
    stateDir,
    downloadsDir: join(dirname(profile.userDataDir), "downloads"),
    maxDownloadBytes: deps.maxDownloadBytes,
  });

  function session(name?: string): BrowserSession {
    const now = settings();
    if (!now.enabled) throw new AppError("UNAVAILABLE", "the browser is turned off: set browser.enabled to true");
    const profile = profileNamed(now, name);
    if (profile.kind === "relay") throw new AppError("UNAVAILABLE", NO_RELAY);
    const known = sessions.get(profile.name);
    if (known && (known.running() !== undefined || JSON.stringify(known.profile) === JSON.stringify(profile))) return known;
    if (profile.kind === "own" && now.attachOnly)
      throw new AppError(
        "UNAVAILABLE",
        `browser.attachOnly is set and the profile ${profile.name} has no cdpUrl: set browser.profiles.${profile.name}.cdpUrl, or turn attachOnly off`,
      );
    const files = filesOf(profile);
    const made = createSession(profile, { ...find, settings, lookup: deps.lookup, downloadsDir: files.downloadsDir, clock, log, store: storing(files) });
    sessions.set(profile.name, made);
    return made;
  }

  const currentKey = ({ key, profile }: Caller): string => JSON.stringify([profileNamed(settings(), profile).name, key]);

  function choose(caller: Caller, tab: Tab): void {
    const key = currentKey(caller);
    currentTabs.delete(key);
    currentTabs.set(key, tab.id);
    const [oldest] = currentTabs.keys();
    if (currentTabs.size > MAX_CALLERS && oldest !== undefined) currentTabs.delete(oldest);
  }

  return {
    clock,
    lookup: deps.lookup,
    settings,
    status: (name) => statusOf(settings(), profileNamed(settings(), name), sessions, find),
    session,
    choose,
    profiles: () => profilesOf(settings(), sessions),
    files: (name) => filesOf(profileNamed(settings(), name)),
    async tabFor(caller, id) {
      const found = session(caller.profile);
      const wanted = id ?? currentTabs.get(currentKey(caller));
      const tabs = found.tabs();
      const tab = wanted === undefined ? undefined : tabs.find((one) => one.id === wanted);
      if (tab) return tab;
      const open = tabs.map((one) => one.id).join(", ");
      if (id !== undefined) throw new AppError("NOT_FOUND", `there is no tab ${id.slice(0, 40)}${open === "" ? "; use open first" : `; open are ${open}`}`);
      const last = tabs.at(-1);
      if (last) return last;
      throw new AppError("NOT_FOUND", "no tab is open: use open with a targetUrl first");
    },
    async reset(name) {
      const profile = profileNamed(settings(), name);
      if (profile.kind !== "own")
        throw new AppError("INVALID_INPUT", `the profile ${profile.name} has no data here; only profiles with a browser of their own can be reset`);
      await sessions.get(profile.name)?.stop();
      await rm(profile.userDataDir, { recursive: true, force: true });
      return { removed: profile.userDataDir };
    },
    async reload() {
      await Promise.all([...sessions.values()].map((one) => one.pause()));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...sessions.values()].map((one) => one.stop()));
    },
  };
}
