import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, knownChannel, type Env } from "../../config/index.ts";
import type { PluginManifest } from "../record.ts";
import type { PackageInfo } from "./candidate.ts";
import { child, texts, type PluginSettings } from "./settings.ts";

/** A bundled plugin that the configuration may need. */
export interface Offer {
  readonly manifest: PluginManifest;
  readonly package?: PackageInfo;
}

export interface NeedsOptions {
  readonly config: unknown;
  readonly env: Env;
  readonly stateDir: string;
  readonly settings: PluginSettings;
  readonly offers: readonly Offer[];
}

/** Ids of bundled plugins that what is configured needs, with the reason. */
export function bundledNeeds(options: NeedsOptions): ReadonlyMap<string, string> {
  const needs = new Map<string, string>();
  const usable = options.offers.filter(({ manifest: { id } }) => !options.settings.deny.has(id) && options.settings.entries.get(id)?.enabled !== false);
  const configured = new Map<Offer, string>();
  for (const offer of usable) {
    const channel = offer.manifest.channels?.find((id) => isChannelConfigured(id, offer, options));
    if (channel !== undefined) configured.set(offer, channel);
  }
  const replaced = new Map([...configured].flatMap(([offer, channel]) => preferredOver(offer, channel).map((id) => [id, offer] as const)));
  for (const [offer, channel] of configured) {
    const better = replaced.get(channel) ?? replaced.get(offer.manifest.id);
    if (better === undefined || better === offer) needs.set(offer.manifest.id, `channel ${channel} is configured`);
  }
  const providers = configuredProviders(options.config);
  for (const { manifest } of usable) {
    const provider = manifest.providers?.find((id) => providers.has(id));
    if (provider !== undefined && !needs.has(manifest.id)) needs.set(manifest.id, `provider ${provider} is configured`);
  }
  return needs;
}

function isChannelConfigured(channel: string, { manifest, package: info }: Offer, { config, env, stateDir }: NeedsOptions): boolean {
  const section = child(child(config, "channels"), channel);
  if (section["enabled"] === false) return false;
  if (Object.keys(section).length > 0) return true;
  const known = knownChannel(channel);
  const isSet = (name: string): boolean => (env[name]?.trim() ?? "") !== "";
  const named = texts(child(manifest.rest, "channelEnvVars")[channel]);
  const card = child(child(child(info?.block, "channel"), "configuredState"), "env");
  const groups = [...(known.variables ?? []), ...[...named, ...texts(card["anyOf"])].map((name) => [name])];
  return groups.some((group) => group.every(isSet)) || (known.linkedByDevice === true && hasLinkedDevice(channel, env, stateDir));
}

/** A device that was linked left its credentials behind. */
function hasLinkedDevice(channel: string, env: Env, stateDir: string): boolean {
  const folder = join(env["OPENCLAW_OAUTH_DIR"]?.trim() || join(stateDir, "credentials"), channel);
  try {
    return readdirSync(folder).some((account) => statSync(join(folder, account, "creds.json"), { throwIfNoEntry: false })?.isFile() ?? false);
  } catch {
    return false; // Nobody ever logged in.
  }
}

/** Channels, or plugins, that this one stands in for when both are configured. */
function preferredOver({ manifest, package: info }: Offer, channel: string): string[] {
  const card = child(info?.block, "channel");
  return [...texts(card["preferOver"]), ...texts(child(child(manifest.rest, "channelConfigs"), channel)["preferOver"])];
}

/** Providers that occur in login profiles, in `models.providers` or as `provider/model`. */
function configuredProviders(config: unknown): ReadonlySet<string> {
  const found = new Set(Object.keys(child(child(config, "models"), "providers")));
  for (const profile of Object.values(child(child(config, "auth"), "profiles"))) {
    if (isObject(profile) && typeof profile["provider"] === "string") found.add(profile["provider"]);
  }
  const agents = child(config, "agents");
  const listed = Array.isArray(agents["list"]) ? agents["list"] : [];
  for (const agent of [agents["defaults"], ...listed]) {
    if (!isObject(agent)) continue;
    for (const key of ["model", "imageModel"]) for (const ref of modelRefs(agent[key])) addProvider(found, ref);
    for (const ref of Object.keys(child(agent, "models"))) addProvider(found, ref);
  }
  return found;
}

function modelRefs(model: unknown): string[] {
  if (typeof model === "string") return [model];
  if (!isObject(model)) return [];
  return [...(typeof model["primary"] === "string" ? [model["primary"]] : []), ...texts(model["fallbacks"])];
}

function addProvider(found: Set<string>, ref: string): void {
  const slash = ref.indexOf("/");
  if (slash > 0) found.add(ref.slice(0, slash).trim());
}
