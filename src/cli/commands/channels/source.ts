/** Channels as a command sees them: their plugins' code is loaded, nothing is connected. */
import { homedir } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/log/logger.ts";
import { systemRandom } from "../../../base/random.ts";
import { nearest } from "../../../base/text.ts";
import { createChannels, defaultAccount, inOrder, type Channels } from "../../../channels/index.ts";
import { channelKey, formatLocated, KNOWN_CHANNELS, type OpenClawConfig } from "../../../config/index.ts";
import { isWaiting, type PluginEntry, loadCommandHost } from "../../../plugins/index.ts";
import type { ChannelPlugin, HostConfig } from "../../../protocol/index.ts";
import { requireValid } from "../../config-source.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { loadPlugins } from "../../plugin-source.ts";

export const CHANNEL_OPTION = { type: "string", value: "id", help: "Channel" } as const;
export const ACCOUNT_OPTION = { type: "string", value: "id", help: "Account (default: the channel's default account)" } as const;

/** The one spelling of a channel's id, also for names that people only type here. */
export function channelId(written: string): string {
  const id = channelKey(written);
  return KNOWN_CHANNELS.find(({ shortNames }) => shortNames?.includes(id))?.id ?? id;
}

export interface ChannelsView extends AsyncDisposable {
  readonly config: OpenClawConfig;
  /** Loaded, in the order in which lists show them. */
  readonly plugins: readonly ChannelPlugin[];
  /** Plugins that bring channels and could not be loaded. */
  readonly failed: readonly { readonly id: string; readonly error: string }[];
  /** Channels of plugins that are off, with the reason. */
  readonly off: ReadonlyMap<string, string>;
  /** The one that a flag names. Throws when it is not there, saying why. */
  find(channel: string): ChannelPlugin;
  /** A copy for a plugin. */
  cfg(): HostConfig;
  /** All of them, with nothing running. */
  readonly channels: Channels;
}

const channelsOf = ({ manifest }: PluginEntry): readonly string[] => manifest.channels ?? [];

export interface OpenOptions {
  /** Only the plugin of this channel. */
  readonly channel?: string | undefined;
  /** Also a plugin that is on only once its channel is configured. */
  readonly evenUnconfigured?: boolean;
}

function notThere(channel: string, entries: readonly PluginEntry[], view: Pick<ChannelsView, "failed">): AppError {
  const broken = view.failed[0];
  if (broken) return new AppError("PLUGIN_FAILED", `the ${channel} plugin could not be loaded: ${broken.id}: ${broken.error}; see: openclaw plugins doctor`);
  const owner = entries.find((entry) => channelsOf(entry).includes(channel));
  if (owner) {
    const why = owner.error ?? owner.reason ?? "it does not register the channel";
    const advice = isWaiting(owner) ? `set it up with: openclaw channels add --channel ${channel}` : `enable it with: openclaw plugins enable ${owner.id}`;
    return new AppError("UNAVAILABLE", `the channel ${channel} is disabled: plugin ${owner.id}: ${why}; ${advice}`);
  }
  const known = entries.flatMap(channelsOf);
  const close = nearest(channel, known);
  const hint = close === undefined ? `available: ${[...new Set(known)].sort().join(", ") || "none"}` : `did you mean ${close}?`;
  return new AppError("NOT_FOUND", `there is no channel ${JSON.stringify(channel)}; ${hint}`);
}

/** Loads the plugins that bring channels. */
export async function openChannels(io: Io, options: OpenOptions = {}): Promise<ChannelsView> {
  await using stack = new AsyncDisposableStack();
  const { loaded, inventory } = await loadPlugins(io);
  requireValid(loaded.snapshot, formatLocated);
  const { config } = loaded.snapshot;
  const wanted = options.channel === undefined ? undefined : channelId(options.channel);
  const bringing = inventory.entries.filter((entry) => channelsOf(entry).length > 0);
  const usable = (entry: PluginEntry): boolean => (entry.enabled && entry.error === undefined) || (options.evenUnconfigured === true && isWaiting(entry));
  const chosen = bringing.filter((entry) => usable(entry) && (wanted === undefined || channelsOf(entry).includes(wanted)));
  const style = createStyle(io.color);
  const write = ({ level, message }: { readonly level: string; readonly message: string }): void =>
    io.err(`${level === "error" ? style.red("error:") : style.yellow("warning:")} ${message}\n`);
  const { env, cwd, version } = io;
  const entries = chosen.map((entry) => ({ ...entry, enabled: true }));
  const { openCommandHost } = await loadCommandHost();
  const sink = { write, flush: async () => {} };
  const host =
    entries.length === 0
      ? undefined
      : stack.use(await openCommandHost({ env, cwd, version, osHome: homedir(), inventory: { ...inventory, entries, diagnostics: [] }, sink }));
  // What is registered is only known to have an id; what is called on it is guarded.
  const plugins = inOrder((host?.channels ?? []).map(({ value }) => value.plugin as unknown as ChannelPlugin));
  const failed = (host?.list() ?? []).flatMap(({ id, error }) => (error === undefined ? [] : [{ id, error }]));
  const cfg = (): HostConfig => structuredClone(config);
  const kept = stack.move();
  return {
    config,
    plugins,
    failed,
    off: new Map(bringing.filter((entry) => !usable(entry)).flatMap((entry) => channelsOf(entry).map((id) => [id, entry.error ?? entry.reason ?? "off"]))),
    find(channel) {
      const id = channelId(channel);
      const found = plugins.find((plugin) => plugin.id === id);
      if (!found) throw notThere(id, bringing, { failed });
      return found;
    },
    cfg,
    channels: localChannels(plugins, cfg),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Every channel that a plugin could bring, for a choice. */
export async function offeredChannels(io: Io): Promise<readonly { readonly value: string; readonly label: string }[]> {
  const { inventory } = await loadPlugins(io);
  const offered = inventory.entries.filter((entry) => entry.enabled || isWaiting(entry));
  return offered.flatMap((entry) => channelsOf(entry).map((value) => ({ value, label: `${value}${entry.description ? ` (${entry.description})` : ""}` })));
}

function localChannels(plugins: readonly ChannelPlugin[], cfg: () => HostConfig): Channels {
  return createChannels({
    config: cfg,
    table: { get: (id) => plugins.find((plugin) => plugin.id === id), list: () => plugins },
    inbound: () => ({ accept: () => Promise.reject(new AppError("UNAVAILABLE", "a command receives no messages")) }),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
}

/** The account that a flag names, or the channel's default one. Throws when there is none of that name. */
export function accountOf(plugin: ChannelPlugin, cfg: HostConfig, wanted: string | undefined): string {
  const ids = plugin.config.listAccountIds(cfg);
  const id = wanted?.trim() || defaultAccount(plugin, cfg);
  if (ids.includes(id)) return id;
  throw new AppError("NOT_FOUND", `${plugin.id} has no account ${JSON.stringify(id)}; it has ${ids.join(", ") || "none"}`);
}
