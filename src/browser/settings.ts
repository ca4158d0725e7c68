import { join } from "node:path";
import { AppError } from "../base/errors.ts";
import type { HostPolicy } from "../base/host-rules.ts";
import type { OpenClawConfig } from "../config/index.ts";

/** The profile with a browser of our own, used when none is named. */
export const OWN_PROFILE = "openclaw";
/** The profile of the extension relay. */
export const RELAY_PROFILE = "chrome";
const DEFAULT_COLOR = "#FF4500";
const DEFAULT_REMOTE_MS = 1500;
const LEAST_HANDSHAKE_MS = 2000;

/** One profile, with what applies to it. */
export interface ProfileSettings {
  readonly name: string;
  /** `own`: started here with a user-data folder of its own; `attached`: runs elsewhere; `relay`: a tab that an extension shares. */
  readonly kind: "own" | "attached" | "relay";
  readonly cdpUrl?: string | undefined;
  readonly cdpPort?: number | undefined;
  readonly color: string;
  readonly userDataDir: string;
}

/** `browser`, with defaults. */
export interface BrowserSettings {
  readonly enabled: boolean;
  readonly evaluateEnabled: boolean;
  readonly headless: boolean;
  readonly noSandbox: boolean;
  readonly attachOnly: boolean;
  readonly executablePath: string | undefined;
  readonly defaultProfile: string;
  readonly efficient: boolean;
  /** How long a browser that runs elsewhere may take to accept the connection. */
  readonly connectMs: number;
  readonly policy: HostPolicy;
  readonly profiles: readonly ProfileSettings[];
}

export interface SettingsFacts {
  readonly config: OpenClawConfig;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly isRoot: boolean;
}

const filled = (text: string | undefined): string | undefined => (text === undefined || text.trim() === "" ? undefined : text.trim());

function profilesOf({ config: { browser = {} }, stateDir }: SettingsFacts): readonly ProfileSettings[] {
  const written = { ...browser.profiles };
  const names = [...new Set([OWN_PROFILE, ...Object.keys(written).sort(), RELAY_PROFILE])];
  return names.map((name) => {
    const own = Object.hasOwn(written, name) ? written[name] : undefined;
    const cdpUrl = filled(own?.cdpUrl) ?? (name === OWN_PROFILE ? filled(browser.cdpUrl) : undefined);
    const isRelay = own?.driver === "extension" || (name === RELAY_PROFILE && own === undefined);
    return {
      name,
      kind: isRelay ? "relay" : cdpUrl === undefined ? "own" : "attached",
      cdpUrl,
      cdpPort: own?.cdpPort,
      color: own?.color ?? filled(browser.color) ?? DEFAULT_COLOR,
      userDataDir: join(stateDir, "browser", name, "user-data"),
    };
  });
}

/** A window needs a screen to be on. */
const hasScreen = ({ platform, env }: SettingsFacts): boolean =>
  platform !== "linux" || filled(env["DISPLAY"]) !== undefined || filled(env["WAYLAND_DISPLAY"]) !== undefined;

export function browserSettings(facts: SettingsFacts): BrowserSettings {
  const { browser = {} } = facts.config;
  const { ssrfPolicy: ssrf } = browser;
  const remoteMs = browser.remoteCdpTimeoutMs ?? DEFAULT_REMOTE_MS;
  return {
    enabled: browser.enabled !== false,
    evaluateEnabled: browser.evaluateEnabled !== false,
    headless: browser.headless === true || !hasScreen(facts),
    noSandbox: browser.noSandbox === true || facts.isRoot,
    attachOnly: browser.attachOnly === true,
    executablePath: filled(browser.executablePath),
    defaultProfile: filled(browser.defaultProfile) ?? OWN_PROFILE,
    efficient: browser.snapshotDefaults?.mode === "efficient",
    connectMs: browser.remoteCdpHandshakeTimeoutMs ?? Math.max(LEAST_HANDSHAKE_MS, 2 * remoteMs),
    policy: { allowPrivateNetwork: ssrf?.allowPrivateNetwork, allowedHostnames: ssrf?.allowedHostnames, hostnameAllowlist: ssrf?.hostnameAllowlist },
    profiles: profilesOf(facts),
  };
}

/** The profile of that name, or the default one. */
export function profileNamed(settings: BrowserSettings, name: string | undefined): ProfileSettings {
  const wanted = filled(name) ?? settings.defaultProfile;
  const found = settings.profiles.find((profile) => profile.name === wanted);
  if (found) return found;
  const known = settings.profiles.map((profile) => profile.name).join(", ");
  throw new AppError("NOT_FOUND", `there is no browser profile "${wanted}"; there are: ${known}`);
}

/** Of one file that a node sends, and of all downloads of one answer together. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
