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
  account: { type: "string", value: "id", help: "Account id (default: default)" },
  name: { type: "string", value: "text", help: "Display name" },
  ...SETUP_OPTIONS,
  json: JSON_OPTION,
} as const;

async function chosenChannel(io: Io, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  if (!io.interactive) throw new AppError("INVALID_INPUT", "expected --channel and its flags (see openclaw channels add --help), or a terminal for questions");
  const options = await offeredChannels(io);
  if (options.length === 0) throw new AppError("NOT_FOUND", "no channel plugin is installed; install one with: openclaw plugins install <package>");
  return prompterFor(io).select({ message: "Which channel?", options: [...options] });
}

/** What keeps the channel from running although it is set up now. */
async function remark(io: Io, channel: string): Promise<string | undefined> {
  const { inventory } = await loadPlugins(io);
  const owners = inventory.entries.filter(({ manifest }) => manifest.channels?.includes(channel) ?? false);
  if (owners.some(({ enabled, error }) => enabled && error === undefined)) return undefined;
  const owner = owners[0];
  return owner && `Not running yet. Plugin ${owner.id}: ${owner.error ?? owner.reason}. Enable it with: openclaw plugins enable ${owner.id}`;
}

/** What the account itself still lacks. */
async function missing({ config }: ChannelPlugin, cfg: HostConfig, accountId: string): Promise<string | undefined> {
  const account = config.resolveAccount(cfg, accountId);
  if ((await config.isConfigured?.(account, cfg)) !== false) return undefined;
  return `Not running yet: ${config.unconfiguredReason?.(account, cfg) ?? "the settings are incomplete"}`;
}

interface Made extends MadeAccount {
  /** Texts to paste at the platform, where nobody was asked and so saw them. */
  readonly toPaste: readonly { readonly text: string; readonly copy?: string }[];
}

async function make(io: Io, plugin: ChannelPlugin, cfg: HostConfig, values: Values<typeof OPTIONS>): Promise<Made> {
  const { accountFromInput, accountFromQuestions, channelOffers, guardedSetup } = await import("../../../setup/index.ts");
  const { platformSteps, stepsText } = await import("./platform-steps.ts");
  const { account } = values;
  const input = setupInput(values);
  const hasInput = Object.keys(input).length > 0;
  const offer = channelOffers((await loadPlugins(io)).inventory).find(({ id }) => id === plugin.id);
  return guardedSetup(plugin, async () => {
    if (!hasInput && io.interactive && plugin.onboarding !== undefined) {
      const asked = await accountFromQuestions(plugin, cfg, { account, prompter: prompterFor(io), runtime: runtimeOf(io, "the setup"), steps: offer?.steps });
      return { ...asked, toPaste: [] };
    }
    try {
      const { next, accountId } = accountFromInput(plugin, cfg, { account, input });
      const steps = offer ? platformSteps(offer, next, accountId, input) : [];
      return { next, accountId, toPaste: steps.filter(({ copy }) => copy !== undefined) };
    } catch (error) {
      // The values for the flags come from the platform: this is how to get them.
      const steps = offer && !hasInput ? platformSteps(offer, cfg, account ?? "default", input) : [];
      if (offer && steps.length > 0) io.err(`${stepsText(offer.label, steps)}\n`);
      throw error;
    }
  });
}

export const add = defineCommand({
  options: OPTIONS,
  async listedOptions(io) {
    const { channel, account, name, json } = OPTIONS;
    const { inventory } = await loadPlugins(io);
    const known = [...new Set(inventory.entries.flatMap(({ manifest }) => manifest.channels ?? []))].sort();
    return { channel: { ...channel, help: `One of ${known.join(", ")}` }, account, name, ...setupFlags(inventory.entries), json };
  },
  examples: [],
  async run({ io, values }) {
    const channel = await chosenChannel(io, values.channel);
    await using view = await openChannels(io, { channel, evenUnconfigured: true });
    const plugin = view.find(channel);
    const base = view.cfg();
    const { next, accountId, toPaste } = await make(io, plugin, base, values);
    const result = await editConfig(io, { kind: "update", config: next as OpenClawConfig, base: base as OpenClawConfig }, "cli channels add");
    const note = (await remark(io, plugin.id)) ?? (await missing(plugin, next, accountId));
    const more = { ...(note === undefined ? {} : { note }), ...(toPaste.length === 0 ? {} : { steps: toPaste }) };
    if (values.json) return printJson(io, { ok: true, channel: plugin.id, accountId, ...result, ...more });
    io.out(io.runnable(describeEdit(`Set up ${plugin.id} account ${accountId}`, result)));
    for (const { text, copy } of toPaste) io.out(`\n${text}\n\n${copy}\n`);
    if (note !== undefined) io.err(`${note}\n`);
  },
});
