import { homedir } from "node:os";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import type { AddressLookup } from "../base/guarded-fetch.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import type { FilesDeps } from "./files.ts";
import { detectBrowser, type FindFacts, type FoundBrowser } from "./find-browser.ts";
import { shownAddress } from "./launch.ts";
import { createHostConsent, type HostConsent } from "./consent.ts";
import { createProfileSessions } from "./profile-sessions.ts";
import { createProfile, deleteProfile, type CreatedProfile } from "./profiles.ts";
import type { Params } from "./params.ts";
import type { BrowserSession } from "./session.ts";
import { browserSettings, OWN_PROFILE, profileNamed, type BrowserSettings, type ProfileSettings } from "./settings.ts";
import type { Tab } from "./tab.ts";
import { createTraces, type Traces } from "./trace.ts";

export interface BrowserDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Looks names up; the system's way when absent. */
  readonly lookup?: AddressLookup | undefined;
  /** The port that the gateway listens on; the configured one when absent. */
  readonly gatewayPort?: (() => number) | undefined;
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
}

/** The browsers of all profiles. */
export interface Browser extends AsyncDisposable {
  settings(): BrowserSettings;
  status(profile?: string): BrowserStatus;
  profiles(): readonly ProfileStatus[];
  /** The profile's browser; throws when it may not be used. */
  session(profile?: string): BrowserSession;
  files(profile?: string): FilesDeps;
  /** The tab of that id, or the caller's own; throws when there is none. `needsCurrent`: a ref is used, which means nothing in a tab that the caller has not seen. */
  tabFor(caller: Caller, id?: string, needsCurrent?: boolean): Promise<Tab>;
  /** The profile's tabs. Those that the user shares are asked for first. */
  tabsOf(caller: Caller): Promise<readonly Tab[]>;
  /** A browser inside of a sandbox as a profile, which is not listed; returns its name. */
  attachTo(sandbox: string, cdpUrl: string): string;
  /** Why scripts of the agent may not run in the profile's pages; undefined when they may. */
  evaluateRefusal(caller: Caller): string | undefined;
  choose(caller: Caller, tab: Tab): void;
  /** Ends the profile's browser and removes everything it has stored. */
  reset(profile?: string): Promise<{ readonly removed: string }>;
  /** Adds a profile to the configuration. */
  createProfile(params: Params): Promise<CreatedProfile>;
  /** Ends a profile's browser and removes the profile with everything it has stored. */
  deleteProfile(name: string): Promise<{ readonly deleted: boolean }>;
  readonly traces: Traces;
  readonly consent: Pick<HostConsent, "unlistedHost" | "allow">;
  /** Ends all browsers; the next request starts them with the settings and the tabs there are then. */
  reload(): Promise<void>;
  readonly clock: Clock;
  readonly lookup?: AddressLookup | undefined;
}

const NO_EVALUATE = "running scripts in pages is turned off by browser.evaluateEnabled";
/** A script could open WebSockets and shared workers, which nobody checks there. */
const NO_SHARED_EVALUATE =
  "scripts of agents do not run in shared tabs of Chrome, because browser.ssrfPolicy cannot be enforced for all that they could reach (browser.ssrfPolicy.allowPrivateNetwork lifts that)";
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
  }));
}

/** The tab of that id, else the current one, else the last. */
function tabAmong(tabs: readonly Tab[], id: string | undefined, current: string | undefined, needsCurrent: boolean, none: string): Tab {
  const wanted = id ?? current;
  const tab = wanted === undefined ? undefined : tabs.find((one) => one.id === wanted);
  if (tab) return tab;
  const open = tabs.map((one) => one.id).join(", ");
  if (id !== undefined) throw new AppError("NOT_FOUND", `there is no tab ${id.slice(0, 40)}; ${open === "" ? none : `open tabs: ${open}`}`);
  const last = tabs.at(-1);
  if (last && needsCurrent) throw new AppError("NOT_FOUND", `the tab of this ref is no longer open: take a snapshot and use its refs (open tabs: ${open})`);
  if (last) return last;
  throw new AppError("NOT_FOUND", none);
}

const noTab = ({ kind }: ProfileSettings): string =>
  kind === "relay"
    ? "no tab of Chrome is shared: ask the user to click the OpenClaw button in Chrome in the tab to use"
    : "no tab is open: use open with a targetUrl first";

async function resetProfile({ name, kind, userDataDir }: ProfileSettings, sessions: Sessions): Promise<{ readonly removed: string }> {
  if (kind !== "own") throw new AppError("INVALID_INPUT", `the profile ${name} has no data here; only profiles with their own browser can be reset`);
  await sessions.get(name)?.stop();
  await rm(userDataDir, { recursive: true, force: true });
  return { removed: userDataDir };
}

const MAX_SANDBOXES = 200;

/** Browsers inside of sandboxes as profiles, which are not listed. */
interface SandboxProfiles {
  /** The settings with these profiles. */
  within(settings: BrowserSettings): BrowserSettings;
  /** Returns the profile's name. */
  attachTo(sandbox: string, cdpUrl: string, color: string): string;
}

function createSandboxProfiles(stateDir: string, drop: (name: string) => Promise<void>): SandboxProfiles {
  const profiles = new Map<string, ProfileSettings>();
  return {
    within: (settings) => (profiles.size === 0 ? settings : { ...settings, profiles: [...settings.profiles, ...profiles.values()] }),
    attachTo(sandbox, cdpUrl, color) {
      // No profile of the configuration can have this name.
      const name = `sandbox:${sandbox}`;
      profiles.delete(name);
      profiles.set(name, { name, kind: "attached", cdpUrl, color, userDataDir: join(stateDir, "browser", `sandbox-${sandbox}`, "user-data") });
      const [oldest] = profiles.keys();
      if (profiles.size > MAX_SANDBOXES && oldest !== undefined) {
        profiles.delete(oldest);
        void drop(oldest).catch(() => undefined);
      }
      return name;
    },
  };
}

export function createBrowser(deps: BrowserDeps): Browser {
  const { config, clock } = deps;
  const find: FindFacts = { platform: process.platform, env: config.env(), home: homedir() };
  const isRoot = process.getuid?.() === 0;
  const stateDir = config.paths.state;
  const written = (): BrowserSettings => browserSettings({ config: config.current, stateDir, env: config.env(), platform: process.platform, isRoot });
  const consent = createHostConsent(() => written().policy);
  const settings = (): BrowserSettings => {
    const now = inSandboxes.within(written());
    return { ...now, policy: consent.widened(now.policy) };
  };
  const sessions = createProfileSessions(deps, find, settings);
  const inSandboxes = createSandboxProfiles(stateDir, sessions.drop);
  const named = (name: string | undefined): ProfileSettings => profileNamed(settings(), name);
  const currentTabs = new Map<string, string>();

  async function tabsOf({ profile }: Caller): Promise<readonly Tab[]> {
    const found = sessions.of(profile);
    if (found.profile.kind === "relay") await found.start();
    return found.tabs();
  }

  const currentKey = ({ key, profile }: Caller): string => JSON.stringify([named(profile).name, key]);

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
    status: (name) => statusOf(settings(), named(name), sessions.known, find),
    session: sessions.of,
    choose,
    profiles: () => profilesOf(written(), sessions.known),
    attachTo: (sandbox, cdpUrl) => inSandboxes.attachTo(sandbox, cdpUrl, named(OWN_PROFILE).color),
    files: (name) => sessions.files(named(name)),
    tabsOf,
    async tabFor(caller, id, needsCurrent = false) {
      return tabAmong(await tabsOf(caller), id, currentTabs.get(currentKey(caller)), needsCurrent, noTab(named(caller.profile)));
    },
    evaluateRefusal({ profile }) {
      const { evaluateEnabled, policy } = settings();
      if (!evaluateEnabled) return NO_EVALUATE;
      return named(profile).kind === "relay" && policy.allowPrivateNetwork !== true ? NO_SHARED_EVALUATE : undefined;
    },
    reset: async (name) => resetProfile(named(name), sessions.known),
    traces: createTraces(clock),
    consent,
    createProfile: (params) => createProfile(config, written(), params),
    deleteProfile: (name) => deleteProfile(config, written(), name, () => sessions.drop(name)),
    async reload() {
      await Promise.all([...sessions.known.values()].map((one) => one.pause()));
    },
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  };
}
