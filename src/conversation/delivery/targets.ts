/** Resolves targets: a channel, an account and an address as the channel's `outbound` takes it. */
import { AppError } from "../../base/errors.ts";
import type { ChannelOutboundTargetMode, ChannelPlugin, HostConfig } from "../../protocol/index.ts";

export interface TargetRequest {
  readonly channel?: string;
  readonly accountId?: string;
  readonly to: string;
  /** Default `explicit`: it was written down. Others are checked against allow lists by the channel. */
  readonly mode?: ChannelOutboundTargetMode;
}

export interface ResolvedAddress {
  readonly plugin: ChannelPlugin;
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
}

/** Channels that could send, to name them and to find the only one. */
export interface SendingChannels {
  get(id: string): ChannelPlugin | undefined;
  list(): readonly ChannelPlugin[];
}

const invalid = (text: string, details?: Record<string, unknown>): AppError => new AppError("INVALID_INPUT", text, details ? { details } : {});

/** Ids of channels with an account. */
function configured(channels: SendingChannels, cfg: HostConfig): string[] {
  return channels
    .list()
    .filter(({ id, config, outbound }) => outbound !== undefined && cfg.channels?.[id] !== undefined && config.listAccountIds(cfg).length > 0)
    .map(({ id }) => id);
}

/** The channel that is named, the only one that is configured, or an error that says what to do. */
export function resolveChannel(named: string | undefined, channels: SendingChannels, cfg: HostConfig): ChannelPlugin {
  const wanted = named?.trim().toLowerCase();
  if (wanted) {
    const found = channels.get(wanted) ?? channels.list().find(({ meta }) => meta.aliases?.includes(wanted));
    if (found) return found;
    throw invalid(
      `there is no channel "${wanted}"; known: ${
        channels
          .list()
          .map(({ id }) => id)
          .join(", ") || "none"
      }`,
      { channel: wanted },
    );
  }
  const known = configured(channels, cfg);
  const [only] = known.length === 1 ? known : [];
  const found = only === undefined ? undefined : channels.get(only);
  if (found) return found;
  throw invalid(
    known.length === 0 ? "no channel is configured: add one with: openclaw channels add" : `choose a channel, several are configured: ${known.join(", ")}`,
    { reason: "channel" },
  );
}

function accountOf(plugin: ChannelPlugin, cfg: HostConfig, named: string | undefined): string {
  const known = plugin.config.listAccountIds(cfg);
  const wanted = named?.trim().toLowerCase();
  if (!wanted) return plugin.config.defaultAccountId?.(cfg) ?? (known.includes("default") ? "default" : (known[0] ?? "default"));
  if (known.length === 0 || known.includes(wanted)) return wanted;
  throw invalid(`${plugin.id} has no account "${wanted}"; known: ${known.join(", ")}`, { channel: plugin.id, accountId: wanted });
}

/** The address to send to; throws `INVALID_INPUT` with a text for the caller. */
export function resolveAddress({ channel, accountId, to, mode = "explicit" }: TargetRequest, channels: SendingChannels, cfg: HostConfig): ResolvedAddress {
  const plugin = resolveChannel(channel, channels, cfg);
  const account = accountOf(plugin, cfg, accountId);
  const written = to.trim();
  const { messaging, outbound } = plugin;
  const normal = messaging?.normalizeTarget?.(written) ?? written;
  if (normal === "") throw invalid(`target is missing${messaging?.targetResolver?.hint ? `: ${messaging.targetResolver.hint}` : ""}`);
  if (!outbound?.resolveTarget) return { plugin, channel: plugin.id, accountId: account, to: normal };
  const allowFrom = plugin.config.resolveAllowFrom?.({ cfg, accountId: account });
  const found = outbound.resolveTarget({ cfg, to: normal, accountId: account, mode, ...(allowFrom ? { allowFrom } : {}) });
  if (found.ok) return { plugin, channel: plugin.id, accountId: account, to: found.to };
  throw invalid(found.error.message, { channel: plugin.id, to: written });
}
