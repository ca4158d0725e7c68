import { escapeLine } from "../../../base/printable.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import { CAPABILITIES } from "../../../channels/index.ts";
import type { ChannelPlugin, HostConfig } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { timeoutOf } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatFacts } from "../../output/table.ts";
import { busy } from "./busy.ts";
import { probeText, stateText, type Account, type Status } from "./rendering.ts";
import { askGateway } from "./status.ts";
import { ACCOUNT_OPTION, accountOf, CHANNEL_OPTION, openChannels, type ChannelsView } from "./source.ts";

export interface Report {
  readonly channel: string;
  readonly accountId: string;
  readonly accountName?: string;
  readonly configured?: boolean;
  readonly enabled?: boolean;
  readonly support: ChannelPlugin["capabilities"];
  /** What the `message` tool can do there. */
  readonly actions: readonly string[];
  readonly probe?: unknown;
  /** What `--target` is on this channel. */
  readonly target?: { readonly raw: string; readonly normalized?: string; readonly error?: string };
}

/** What every channel that sends can do. */
const ALWAYS = ["send", "broadcast"];

function actionsOf({ actions }: ChannelPlugin, cfg: HostConfig): readonly string[] {
  try {
    return [...new Set([...ALWAYS, ...(actions?.listActions?.({ cfg }) ?? [])])];
  } catch {
    return ALWAYS;
  }
}

/** How the channel reads a target that a user writes. */
function targetOf({ messaging, outbound }: ChannelPlugin, raw: string, cfg: HostConfig, accountId: string): NonNullable<Report["target"]> {
  try {
    const found = outbound?.resolveTarget?.({ cfg, to: raw, accountId, mode: "explicit" });
    if (found && !found.ok) return { raw, error: messageOf(found.error) };
    const normalized = messaging?.normalizeTarget?.(raw) ?? (found?.ok ? found.to : undefined);
    return normalized === undefined ? { raw } : { raw, normalized };
  } catch (error) {
    return { raw, error: messageOf(error) };
  }
}

export function reportOf(plugin: ChannelPlugin, account: Account, cfg: HostConfig, target: string | undefined): Report {
  const { accountId, name, configured, enabled, probe } = account;
  return {
    channel: plugin.id,
    accountId,
    ...(name === undefined ? {} : { accountName: name }),
    ...(configured === undefined ? {} : { configured }),
    ...(enabled === undefined ? {} : { enabled }),
    support: plugin.capabilities,
    actions: actionsOf(plugin, cfg),
    ...(probe === undefined ? {} : { probe }),
    ...(target === undefined ? {} : { target: targetOf(plugin, target, cfg, accountId) }),
  };
}

/** `direct, group; reactions, edit, media`. */
export function supportText(support: ChannelPlugin["capabilities"] | undefined): string {
  const able = CAPABILITIES.filter((word) => support?.[word] === true);
  return [support?.chatTypes?.join(", ") ?? "", able.join(", ")].filter((part) => part !== "").join("; ") || "unknown";
}

function print(io: Io, reports: readonly (Report & { readonly account: Account; readonly label: string })[]): void {
  const style = createStyle(io.color);
  for (const [index, { account, label, accountId, support, actions, probe, target }] of reports.entries()) {
    const asked = probeText(probe, style);
    const facts: (readonly [string, string])[] = [
      ["Supports", supportText(support)],
      ["Actions", actions.join(", ")],
      ...(asked === undefined ? [] : ([["Probe", asked]] as const)),
      ...(target === undefined
        ? []
        : ([
            ["Target", target.error === undefined ? escapeLine(`${target.raw} → ${target.normalized ?? "unchanged"}`) : style.red(escapeLine(target.error))],
          ] as const)),
    ];
    io.out(`${index === 0 ? "" : "\n"}${style.bold(escapeLine(label))} ${escapeLine(accountId)} ${stateText(account, style)}\n${formatFacts(facts, style)}`);
  }
}

/** The accounts that are meant: one, all of a channel, or all that are configured. */
function chosen(
  view: ChannelsView,
  status: Status,
  wanted: { readonly channel?: string | undefined; readonly account?: string | undefined },
): [ChannelPlugin, Account][] {
  const plugins = wanted.channel === undefined ? view.plugins : [view.find(wanted.channel)];
  return plugins.flatMap((plugin) => {
    const only = wanted.account === undefined ? undefined : accountOf(plugin, view.cfg(), wanted.account);
    const accounts = (status.channelAccounts[plugin.id] ?? []).filter(({ accountId }) => only === undefined || accountId === only);
    return accounts.map((account): [ChannelPlugin, Account] => [plugin, account]);
  });
}

export const capabilities = defineCommand({
  options: {
    channel: CHANNEL_OPTION,
    account: ACCOUNT_OPTION,
    target: { type: "string", value: "to", help: "Also show how the channel parses this target" },
    timeout: { type: "string", value: "ms", help: "Time to wait for each platform, in ms (default 10000)" },
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    if (values.account !== undefined && values.channel === undefined) throw new AppError("INVALID_INPUT", "expected --channel together with --account");
    await using view = await openChannels(io, { channel: values.channel });
    if (values.channel !== undefined) view.find(values.channel);
    const status = await look(io, view, Math.round(timeoutOf(values)));
    const found = chosen(view, status, values);
    if (found.length === 0) throw new AppError("NOT_FOUND", "no channels configured; add one with: openclaw channels add");
    const reports = found.map(([plugin, account]) => ({
      ...reportOf(plugin, account, view.cfg(), values.target),
      account,
      label: status.channelLabels[plugin.id] ?? plugin.id,
    }));
    if (values.json) printJson(io, { channels: reports.map(({ account: _account, label: _label, ...report }) => report) });
    else print(io, reports);
  },
});

/** From the gateway, whose accounts run; else from the platforms. */
async function look(io: Io, { channels, plugins }: ChannelsView, timeoutMs: number): Promise<Status> {
  using _ = busy(io, "Checking connections");
  const { value } = await askGateway(io, { probe: true, timeoutMs });
  const isKnown = value !== undefined && plugins.some(({ id }) => (value.channelAccounts[id] ?? []).length > 0);
  return isKnown ? value : await channels.status({ probe: true, timeoutMs });
}
