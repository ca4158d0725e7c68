import { AppError, messageOf } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { ChannelPlugin, ChannelSetupInput, HostConfig } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { printJson, type Io } from "../../io.ts";
import { loadPlugins } from "../../plugin-source.ts";
import { prompterFor, runtimeOf } from "../../prompter.ts";
import { CHANNEL_OPTION, offeredChannels, openChannels } from "./source.ts";
import { SETUP_OPTIONS, setupInput } from "./setup-input.ts";

const OPTIONS = {
  channel: CHANNEL_OPTION,
  account: { type: "string", value: "id", help: "the account's id (default: default)" },
  name: { type: "string", value: "text", help: "what the account is called in lists" },
  ...SETUP_OPTIONS,
  json: JSON_OPTION,
} as const;

const ACCOUNT_ID = /^[A-Za-z0-9_-]{1,64}$/;

interface Made {
  readonly next: HostConfig;
  readonly accountId: string;
}

/** What to write by hand where the plugin has no setup. */
function byHand({ id, configSchema }: ChannelPlugin): AppError {
  const properties = (configSchema?.schema["properties"] ?? {}) as Readonly<Record<string, unknown>>;
  const keys = Object.keys(properties);
  const known = keys.length > 0 ? `; its settings are ${keys.join(", ")}` : "; its documentation names the settings";
  return new AppError("UNAVAILABLE", `the plugin of ${id} has no setup; set it up by hand with: openclaw config set channels.${id}.<setting> <value>${known}`);
}

/** The configuration with the account in it, as the plugin makes it from what was given. */
export function withAccount(plugin: ChannelPlugin, cfg: HostConfig, given: { readonly account?: string | undefined; readonly input: ChannelSetupInput }): Made {
  const { setup } = plugin;
  if (!setup) throw byHand(plugin);
  const { account, input } = given;
  const accountId = setup.resolveAccountId?.({ cfg, accountId: account }) ?? account ?? "default";
  if (!ACCOUNT_ID.test(accountId)) throw new AppError("INVALID_INPUT", `an account's id has letters, digits, - and _ only, not ${JSON.stringify(accountId)}`);
  const wrong = setup.validateInput?.({ cfg, accountId, input });
  if (wrong) throw new AppError("INVALID_INPUT", `${plugin.id}: ${wrong}`);
  const applied = setup.applyAccountConfig({ cfg, accountId, input });
  const named = input.name === undefined ? applied : (setup.applyAccountName?.({ cfg: applied, accountId, name: input.name }) ?? applied);
  return { next: named, accountId };
}

/** Lets the plugin ask for what it needs. */
async function byQuestions(io: Io, plugin: ChannelPlugin, cfg: HostConfig, account: string | undefined): Promise<Made> {
  const { onboarding } = plugin;
  if (!onboarding)
    throw plugin.setup
      ? new AppError("INVALID_INPUT", `${plugin.id} asks no questions; give its settings as flags: openclaw channels add --help`)
      : byHand(plugin);
  const result = await onboarding.configure({
    cfg,
    runtime: runtimeOf(io, "the setup"),
    prompter: prompterFor(io),
    accountOverrides: account === undefined ? {} : { [plugin.id]: account },
    shouldPromptAccountIds: account === undefined,
    forceAllowFrom: false,
  });
  return { next: result.cfg, accountId: result.accountId ?? account ?? "default" };
}

async function chosenChannel(io: Io, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
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

async function make(io: Io, plugin: ChannelPlugin, cfg: HostConfig, values: Values<typeof OPTIONS>): Promise<Made> {
  const input = setupInput(values);
  const asks = Object.keys(input).length === 0 && io.interactive && plugin.onboarding !== undefined;
  try {
    return asks ? await byQuestions(io, plugin, cfg, values.account) : withAccount(plugin, cfg, { account: values.account, input });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("PLUGIN_FAILED", `the setup of ${plugin.id} failed: ${messageOf(error)}`, { cause: error });
  }
}

export const add = defineCommand({
  options: OPTIONS,
  examples: [],
  async run({ io, values }) {
    const channel = await chosenChannel(io, values.channel);
    await using view = await openChannels(io, { channel, evenUnconfigured: true });
    const plugin = view.find(channel);
    const { next, accountId } = await make(io, plugin, view.cfg(), values);
    const result = await editConfig(io, { kind: "update", config: next as OpenClawConfig }, "cli channels add");
    const note = await remark(io, plugin.id);
    if (values.json) return printJson(io, { ok: true, channel: plugin.id, accountId, ...result, ...(note === undefined ? {} : { note }) });
    io.out(describeEdit(`set up ${plugin.id} account ${accountId}`, result));
    if (note !== undefined) io.err(`${note}\n`);
  },
});
