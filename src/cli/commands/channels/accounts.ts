import { AppError, messageOf } from "../../../base/errors.ts";
import { type OpenClawConfig, DEFAULT_CHANNEL, stateLockPath } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { describeEdit, editConfig } from "../../config-edit.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { ACCOUNT_OPTION, accountOf, CHANNEL_OPTION, channelId, openChannels } from "./source.ts";
import { runtimeOf } from "../../prompter.ts";
import { lockHolder } from "../../../base/instance-lock.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { callGateway, GATEWAY_OPTIONS, type GatewayFlags } from "../../gateway-call.ts";

/** How it is done without the plugin's help. */
function byHand(channel: string, account: string, doDelete: boolean): string {
  const section = account === "default" ? `channels.${channel}` : `channels.${channel}.accounts.${account}`;
  return doDelete ? `openclaw config unset ${section}` : `openclaw config set ${section}.enabled false`;
}

export const remove = defineCommand({
  options: {
    channel: CHANNEL_OPTION,
    account: ACCOUNT_OPTION,
    delete: { type: "boolean", help: "Delete its settings and credentials (default: only disable it)" },
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    if (values.channel === undefined) throw new AppError("INVALID_INPUT", "expected --channel; list the channels with: openclaw channels list");
    const channel = channelId(values.channel);
    // Its plugin may be off because the account is.
    const evenUnconfigured = loadFor(io).snapshot.config.channels?.[channel] !== undefined;
    await using view = await openChannels(io, { channel, evenUnconfigured });
    const { id, config } = view.find(channel);
    const cfg = view.cfg();
    const accountId = accountOf(view.find(id), cfg, values.account);
    const doDelete = values.delete === true;
    const next = doDelete ? config.deleteAccount?.({ cfg, accountId }) : config.setAccountEnabled?.({ cfg, accountId, enabled: false });
    if (!next) {
      const what = doDelete ? "deleting" : "disabling";
      throw new AppError("UNAVAILABLE", `the ${id} plugin does not support ${what} an account; run instead: ${byHand(id, accountId, doDelete)}`);
    }
    const result = await editConfig(io, { kind: "update", config: next as OpenClawConfig, base: cfg as OpenClawConfig }, "cli channels remove");
    if (values.json) printJson(io, { ok: true, channel: id, accountId, deleted: doDelete, ...result });
    else io.out(io.runnable(describeEdit(`${doDelete ? "Deleted" : "Disabled"} ${id} account ${accountId}`, result)));
  },
});

export const login = defineCommand({
  options: {
    channel: { ...CHANNEL_OPTION, help: `Channel (default ${DEFAULT_CHANNEL})` },
    account: ACCOUNT_OPTION,
    phone: { type: "string", help: "Link with a code entered on the phone with this number, instead of a QR code" },
    verbose: { type: "boolean", help: "Show more progress output" },
  },
  examples: [],
  async run({ io, values }) {
    const channel = values.channel ?? DEFAULT_CHANNEL;
    await using view = await openChannels(io, { channel, evenUnconfigured: true });
    const plugin = view.find(channel);
    const signIn = plugin.auth?.login;
    if (!signIn) {
      throw new AppError("INVALID_INPUT", `${plugin.id} has no login; add its credentials with: openclaw channels add --channel ${plugin.id} (see --help)`);
    }
    const cfg = view.cfg();
    const accountId = values.account === undefined ? null : accountOf(plugin, cfg, values.account);
    try {
      await signIn({
        cfg,
        accountId,
        runtime: runtimeOf(io, "the login"),
        verbose: values.verbose ?? false,
        channelInput: values.channel ?? null,
        phoneNumber: values.phone,
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("PLUGIN_FAILED", `the login to ${plugin.id} failed: ${messageOf(error)}`, { cause: error });
    } finally {
      // The library of a channel may still have timers for requests that nobody waits for.
      io.endSoon?.();
    }
  },
});

/** By the gateway where one runs, since it has the connection; else by the plugin itself. */
async function signOut(io: Io, channel: string, accountId: string | undefined): Promise<MethodResult<"channels.logout">> {
  const { paths, snapshot } = loadFor(io);
  const asks = snapshot.config.gateway?.mode === "remote" || lockHolder(stateLockPath(paths.state)) !== undefined;
  if (asks) return callGateway(io, "channels.logout", { channel, ...(accountId === undefined ? {} : { accountId }) }, {});
  await using view = await openChannels(io, { channel, evenUnconfigured: true });
  return await view.channels.logout(view.find(channel).id, accountId);
}

export const logout = defineCommand({
  options: {
    channel: { ...CHANNEL_OPTION, help: `Channel (default ${DEFAULT_CHANNEL})` },
    account: ACCOUNT_OPTION,
    json: JSON_OPTION,
  },
  examples: [],
  async run({ io, values }) {
    const result = await signOut(io, channelId(values.channel ?? DEFAULT_CHANNEL), values.account);
    if (values.json) return printJson(io, result);
    const { channel, accountId, cleared } = result;
    io.out(cleared ? `Signed out of ${channel} account ${accountId}\n` : `${channel} account ${accountId} was not signed in\n`);
  },
});

const OPTIONS = { channel: CHANNEL_OPTION, account: ACCOUNT_OPTION, ...GATEWAY_OPTIONS } as const;

/** A connection may take 10 s to end. */
const PATIENCE = "20000";

type Verb = "start" | "stop" | "restart";

interface Values extends GatewayFlags {
  readonly channel?: string | undefined;
  readonly account?: string | undefined;
}

const WORDS: Readonly<Record<Verb, string>> = {
  start: "runs",
  stop: "is stopped until you start it or the gateway restarts; outgoing messages are queued",
  restart: "was restarted",
};

async function command(verb: Verb, io: Io, values: Values, positionals: readonly string[]): Promise<void> {
  const [named, ...extra] = positionals;
  const written = named ?? values.channel;
  if (written === undefined || extra.length > 0 || (named !== undefined && values.channel !== undefined)) {
    throw new AppError("INVALID_INPUT", `expected one channel, such as: openclaw channels ${verb} telegram`);
  }
  const params = { channel: channelId(written), ...(values.account === undefined ? {} : { accountId: values.account }) };
  const flags = { timeout: PATIENCE, ...values };
  const done: MethodResult<"channels.start"> =
    verb === "stop"
      ? await callGateway(io, "channels.stop", params, flags)
      : await callGateway(io, "channels.start", { ...params, ...(verb === "restart" ? { restart: true } : {}) }, flags);
  if (values.json) printJson(io, done);
  else io.out(`${done.channel} account ${done.accountId} ${WORDS[verb]}\n`);
}

const made = (verb: Verb, does: string) =>
  defineCommand({
    positionals: "<channel>",
    options: OPTIONS,
    examples: [{ line: `openclaw channels ${verb} telegram`, does }],
    run: ({ io, values, positionals }) => command(verb, io, values, positionals),
  });

export const start = made("start", "Start a stopped account");
export const stop = made("stop", "Stop the account; the gateway keeps running");
export const restart = made("restart", "Reconnect the account");
