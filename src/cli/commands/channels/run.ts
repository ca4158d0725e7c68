import { AppError } from "../../../base/errors.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS, type GatewayFlags } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { ACCOUNT_OPTION, CHANNEL_OPTION, channelId } from "./source.ts";

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
  stop: "is stopped until it is started, or the gateway restarts; messages to send over it wait",
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

export const start = made("start", "start one that was stopped");
export const stop = made("stop", "let it rest; the gateway keeps running");
export const restart = made("restart", "reconnect it");
