import type { MadeAccount } from "../../../setup/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { ChannelPlugin, HostConfig } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { prompterFor, runtimeOf } from "../../prompter.ts";
import { CHANNEL_OPTION, offeredChannels, openChannels } from "./source.ts";
import { setupFlags, SETUP_OPTIONS, setupInput } from "./setup-input.ts";

const OPTIONS = {
  channel: CHANNEL_OPTION,
  account: { type: "string", value: "id", help: "the account's id (default: default)" },
  name: { type: "string", value: "text", help: "what the account is called in lists" },
  ...SETUP_OPTIONS,
  json: JSON_OPTION,
} as const;

async function chosenChannel(io: Io, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  if (!io.interactive) throw new AppError("INVALID_INPUT", "expected --channel with a channel and the flags it takes, or a terminal for questions");
  const options = await offeredChannels(io);
  if (options.length === 0)
    throw new AppError("NOT_FOUND", "no plugin that is installed brings a channel; install one with: openclaw plugins install <package>");
  return prompterFor(io).select({ message: "Which channel?", options: [...options] });
}

/** What keeps the channel from running although it is set up now. */
async function remark(io: Io, channel: string): Promise<string | undefined> {
  const { inventory } = await loadPlugins(io);
  const owners = inventory.entries.filter(({ manifest }) => manifest.channels?.includes(channel) ?? false);
  if (owners.some(({ enabled, error }) => enabled && error === undefined)) return undefined;
  const owner = owners[0];
  return owner && `it does not run yet: plugin ${owner.id}: ${owner.error ?? owner.reason}; openclaw plugins enable ${owner.id}`;
}

/** What the account itself still lacks. */
async function missing({ config }: ChannelPlugin, cfg: HostConfig, accountId: string): Promise<string | undefined> {
  const account = config.resolveAccount(cfg, accountId);
  if ((await config.isConfigured?.(account, cfg)) !== false) return undefined;
  return `it does not run yet: ${config.unconfiguredReason?.(account, cfg) ?? "its settings are not complete"}`;
}

async function make(io: Io, plugin: ChannelPlugin, cfg: HostConfig, values: Values<typeof OPTIONS>): Promise<MadeAccount> {
  const { accountFromInput, accountFromQuestions, channelOffers, guardedSetup } = await import("../../../setup/index.ts");
  const { account } = values;
  const input = setupInput(values);
  const asks = Object.keys(input).length === 0 && io.interactive && plugin.onboarding !== undefined;
  const steps = asks ? channelOffers((await loadPlugins(io)).inventory).find(({ id }) => id === plugin.id)?.steps : undefined;
  return guardedSetup(plugin, async () =>
    asks
      ? accountFromQuestions(plugin, cfg, { account, prompter: prompterFor(io), runtime: runtimeOf(io, "the setup"), steps })
      : accountFromInput(plugin, cfg, { account, input }),
  );
}

export const add = defineCommand({
  options: OPTIONS,
  async listedOptions(io) {
    const { channel, account, name, json } = OPTIONS;
    const { inventory } = await loadPlugins(io);
    const known = [...new Set(inventory.entries.flatMap(({ manifest }) => manifest.channels ?? []))].sort();
    return { channel: { ...channel, help: `one of ${known.join(", ")}` }, account, name, ...setupFlags(inventory.entries), json };
  },
  examples: [],
  async run({ io, values }) {
    const channel = await chosenChannel(io, values.channel);
    await using view = await openChannels(io, { channel, evenUnconfigured: true });
    const plugin = view.find(channel);
    const base = view.cfg();
    const { next, accountId } = await make(io, plugin, base, values);
    const result = await editConfig(io, { kind: "update", config: next as OpenClawConfig, base: base as OpenClawConfig }, "cli channels add");
    const note = (await remark(io, plugin.id)) ?? (await missing(plugin, next, accountId));
    if (values.json) return printJson(io, { ok: true, channel: plugin.id, accountId, ...result, ...(note === undefined ? {} : { note }) });
    io.out(io.runnable(describeEdit(`set up ${plugin.id} account ${accountId}`, result)));
    if (note !== undefined) io.err(`${note}\n`);
  },
});
