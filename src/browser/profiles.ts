/** Profiles as settings: adding and removing them for the command line. */
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../base/errors.ts";
import { derivedPorts, gatewayPort, type Config } from "../config/index.ts";
import { required, textIn, type Params } from "./params.ts";
import { addressPort } from "./relay/address.ts";
import { OWN_PROFILE, RELAY_PROFILE, type BrowserSettings } from "./settings.ts";

const BY = { by: "browser" } as const;
const NAME = /^[a-z0-9-]{1,64}$/;
const COLORS = ["#0066CC", "#00AA00", "#9933CC", "#CC6600", "#008080", "#CC0066", "#666699", "#7A5C00"] as const;

export interface CreatedProfile {
  readonly ok: true;
  readonly profile: string;
  readonly cdpPort: number | null;
  readonly cdpUrl: string | null;
  readonly color: string;
  readonly isRemote: boolean;
}

type Ports = ReturnType<typeof derivedPorts>;
const portsOf = (config: Config, port?: number): Ports => derivedPorts(port ?? gatewayPort(config.env(), { config: config.current.gateway?.port }));

/** Where the extension's relay listens. */
const relayUrl = (config: Config): string => `http://127.0.0.1:${portsOf(config).extensionRelay}`;

/** The port that the extension connects to: that of the profile's address, else the one that follows from the gateway's. */
export const relayPort = (config: Config, cdpUrl: string | undefined, port?: number): number => addressPort(cdpUrl) ?? portsOf(config, port).extensionRelay;

function freePort(config: Config, { profiles }: BrowserSettings): number {
  const [first, last] = portsOf(config).cdp;
  const used = new Set(profiles.flatMap(({ cdpPort, cdpUrl }) => [cdpPort, Number(URL.parse(cdpUrl ?? "")?.port)]));
  for (let port = first; port <= last; port += 1) if (!used.has(port)) return port;
  throw new AppError("OVERLOADED", `all ports from ${first} to ${last} belong to profiles: delete one first`);
}

function checkedName(text: string): string {
  if (NAME.test(text)) return text;
  throw new AppError("INVALID_INPUT", `"${text.slice(0, 80)}" is not a valid profile name: use lowercase letters, digits and dashes, at most 64`);
}

function checkedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^(?:https?|wss?):$/.test(url.protocol)) return text;
  throw new AppError("INVALID_INPUT", `"${text.slice(0, 100)}" is not an http or ws URL of a browser`);
}

/** Adds a profile to the configuration. One without an address is a browser of its own and gets a port of the range for them. */
export async function createProfile(config: Config, settings: BrowserSettings, params: Params): Promise<CreatedProfile> {
  const name = checkedName(required(params, "name"));
  if (settings.profiles.some((profile) => profile.name === name)) throw new AppError("CONFLICT", `the browser profile ${name} already exists`);
  const color = textIn(params, "color") ?? COLORS[settings.profiles.length % COLORS.length] ?? COLORS[0];
  if (!/^#?[0-9a-fA-F]{6}$/.test(color)) throw new AppError("INVALID_INPUT", `"${color.slice(0, 40)}" is not a color: write it as #0066CC`);
  const driver = textIn(params, "driver") ?? "openclaw";
  if (!["openclaw", "clawd", "extension"].includes(driver))
    throw new AppError("INVALID_INPUT", `driver must be openclaw or extension, not "${driver.slice(0, 40)}"`);
  const isRelay = driver === "extension";
  const written = textIn(params, "cdpUrl");
  const cdpUrl = written === undefined ? (isRelay ? relayUrl(config) : undefined) : checkedAddress(written);
  const cdpPort = cdpUrl === undefined ? freePort(config, settings) : undefined;
  const value = {
    color: color.startsWith("#") ? color : `#${color}`,
    ...(cdpUrl === undefined ? { cdpPort } : { cdpUrl }),
    ...(isRelay ? { driver } : {}),
  };
  await config.edit({ kind: "patch", value: { browser: { profiles: { [name]: value } } } }, BY);
  return { ok: true, profile: name, cdpPort: cdpPort ?? null, cdpUrl: cdpUrl ?? null, color: value.color, isRemote: cdpUrl !== undefined && !isRelay };
}

/** Takes a profile out of the configuration, with everything that its browser has stored. `stop` ends that browser. */
export async function deleteProfile(
  config: Config,
  settings: BrowserSettings,
  name: string,
  stop: () => Promise<void>,
): Promise<{ readonly deleted: boolean }> {
  const profile = settings.profiles.find((one) => one.name === name);
  if (!profile) throw new AppError("NOT_FOUND", `there is no browser profile "${name.slice(0, 80)}"`);
  const isWritten = Object.hasOwn(config.current.browser?.profiles ?? {}, name);
  if (!isWritten && (name === OWN_PROFILE || name === RELAY_PROFILE))
    throw new AppError("INVALID_INPUT", `the profile ${name} is built in; openclaw browser reset-profile deletes its data`);
  if (name === settings.defaultProfile) throw new AppError("INVALID_INPUT", `${name} is the default profile: set browser.defaultProfile to another one first`);
  await config.edit({ kind: "patch", value: { browser: { profiles: { [name]: null } } } }, BY);
  await stop();
  if (profile.kind === "own") await rm(dirname(profile.userDataDir), { recursive: true, force: true });
  return { deleted: true };
}
