import { randomUUID } from "node:crypto";
import { AppError } from "../../../base/errors.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { withGateway } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { sayWhatWaits } from "./waiting.ts";

const OPTIONS = {
  message: { type: "string", short: "m", value: "text", help: "what to say (required)" },
  to: { type: "string", short: "t", value: "target", help: "as if this person or chat had written it" },
  "session-id": { type: "string", value: "id", help: "in this session" },
  agent: { type: "string", value: "id", help: "to this agent" },
  thinking: { type: "string", value: "level", help: "off, minimal, low, medium, high or xhigh" },
  channel: { type: "string", value: "id", help: "the channel of --to, or last" },
  deliver: { type: "boolean", help: "send the answer to the chat, too" },
  "reply-channel": { type: "string", value: "id", help: "send it over this channel instead" },
  "reply-to": { type: "string", value: "target", help: "send it there instead" },
  "reply-account": { type: "string", value: "id", help: "with this account" },
  timeout: { type: "string", value: "seconds", help: "how long the answer may take (default 600, or as configured)" },
  local: { type: "boolean", help: "answer in this process, without a running gateway" },
  url: { type: "string", value: "ws", help: "ask this gateway (needs --token or --password)" },
  token: { type: "string", value: "text", help: "the gateway's token, instead of the stored one" },
  password: { type: "string", value: "text", help: "the gateway's password" },
  json: JSON_OPTION,
} as const;

type Flags = Values<typeof OPTIONS>;

const DEFAULT_SECONDS = 600;
/** The gateway ends a run that takes too long; the command waits a little longer to hear of it. */
const GRACE_MS = 5000;

function paramsOf(values: Flags, seconds: number | undefined): MethodParams<"agent"> {
  const message = values.message?.trim();
  if (!message) throw new AppError("INVALID_INPUT", 'expected what to say: openclaw agent --message "…" --agent main');
  if (!values.to && !values["session-id"] && !values.agent)
    throw new AppError("INVALID_INPUT", "expected one of --to, --session-id and --agent: whom is it for? openclaw agent --agent main --message …");
  const named = {
    to: values.to,
    sessionId: values["session-id"],
    agentId: values.agent,
    thinking: values.thinking,
    channel: values.channel,
    replyChannel: values["reply-channel"],
    replyTo: values["reply-to"],
    replyAccountId: values["reply-account"],
    timeout: seconds,
  };
  const fields = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  return { ...fields, message, idempotencyKey: randomUUID(), ...(values.deliver ? { deliver: true } : {}) };
}

function secondsOf({ timeout }: Flags): number | undefined {
  if (timeout === undefined) return undefined;
  const seconds = Number(timeout);
  if (!Number.isInteger(seconds) || seconds < 0) throw new AppError("INVALID_INPUT", `--timeout takes whole seconds, 0 for no limit, not "${timeout}"`);
  return seconds;
}

/** Prints the answer. The exit code: a run that was stopped before its end has not done what it was asked for. */
function show(io: Io, answer: MethodResult<"agent">, { json, seconds }: { readonly json: boolean; readonly seconds: number | undefined }): number {
  if (json) printJson(io, answer);
  if (answer.status !== "ok" || !answer.result) return 0;
  const { payloads, meta } = answer.result;
  if (!json)
    for (const { text, mediaUrl } of payloads) {
      if (text) io.out(`${text}\n`);
      if (mediaUrl) io.out(`MEDIA:${mediaUrl}\n`);
    }
  if (meta["aborted"] === true) {
    const limit = seconds === undefined ? "the configured time (agents.defaults.timeoutSeconds)" : `${seconds} s`;
    io.err(
      meta["stopReason"] === "timeout"
        ? `error: no answer within ${limit}; allow more with --timeout <seconds>\n`
        : "error: the run was stopped before it was done\n",
    );
    return 1;
  }
  if (payloads.length === 0 && !json) io.err(`${createStyle(io.color).dim("(no answer, on purpose)")}\n`);
  return 0;
}

/** One turn of an agent from the command line. */
export const agent = defineCommand({
  options: OPTIONS,
  examples: [
    { line: `openclaw agent --agent main --message "hello"`, does: "ask the main agent" },
    { line: `openclaw agent --agent main --message "hello" --json`, does: "for machines: the answer, the model, the tokens" },
  ],
  async run({ io, values }) {
    const seconds = secondsOf(values);
    const params = paramsOf(values, seconds);
    const json = values.json ?? false;
    if (values.local) {
      const { runLocally } = await import("./local.ts");
      return runLocally(io, params, { json, show: (answer) => show(io, answer, { json, seconds }) });
    }
    const timeoutMs = seconds === 0 ? 2 ** 31 - 1 : (seconds ?? DEFAULT_SECONDS) * 1000 + GRACE_MS;
    const { url, token, password } = values;
    const flags = {
      timeout: String(timeoutMs),
      ...(url === undefined ? {} : { url }),
      ...(token === undefined ? {} : { token }),
      ...(password === undefined ? {} : { password }),
    };
    if (!json && io.color) io.err(`${createStyle(io.color).dim("asking …")}\n`);
    const answer = await withGateway(io, flags, async (client) => {
      if (!json && io.redraw) sayWhatWaits(io, client, params.idempotencyKey);
      const done = (await client.call("agent", params, { timeoutMs, expectFinal: true })) as MethodResult<"agent">;
      return done;
    });
    return show(io, answer, { json, seconds });
  },
});
