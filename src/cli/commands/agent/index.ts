import { randomUUID } from "node:crypto";
import { AppError } from "../../../base/errors.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { withGateway } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { reportPendingApprovals } from "./waiting.ts";

const OPTIONS = {
  message: { type: "string", short: "m", value: "text", help: "Message to send (required)" },
  to: { type: "string", short: "t", value: "target", help: "Sender or chat whose session to use" },
  "session-id": { type: "string", value: "id", help: "Session id to use" },
  agent: { type: "string", value: "id", help: "Agent to send it to" },
  thinking: { type: "string", value: "level", help: "Thinking level: off, minimal, low, medium, high or xhigh" },
  channel: { type: "string", value: "id", help: "Channel of --to, or last" },
  deliver: { type: "boolean", help: "Also send the reply to the chat" },
  "reply-channel": { type: "string", value: "id", help: "Channel to deliver the reply on" },
  "reply-to": { type: "string", value: "target", help: "Chat to deliver the reply to" },
  "reply-account": { type: "string", value: "id", help: "Account to deliver the reply with" },
  timeout: { type: "string", value: "seconds", help: "Time limit for the reply, in seconds (default 600, or as configured)" },
  local: { type: "boolean", help: "Run the agent in this process, without a gateway" },
  url: { type: "string", value: "ws", help: "Gateway to connect to (needs --token or --password)" },
  token: { type: "string", value: "text", help: "Gateway token, instead of the stored one" },
  password: { type: "string", value: "text", help: "Gateway password" },
  json: JSON_OPTION,
} as const;

type Flags = Values<typeof OPTIONS>;

const DEFAULT_SECONDS = 600;
/** The gateway ends a run that takes too long; the command waits a little longer to hear of it. */
const GRACE_MS = 5000;

function paramsOf(values: Flags, seconds: number | undefined): MethodParams<"agent"> {
  const message = values.message?.trim();
  if (!message) throw new AppError("INVALID_INPUT", 'expected a message: openclaw agent --agent main --message "hello"');
  if (!values.to && !values["session-id"] && !values.agent)
    throw new AppError("INVALID_INPUT", 'expected one of --to, --session-id or --agent, such as: openclaw agent --agent main --message "hello"');
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
    for (const { text, mediaUrl, mediaUrls } of payloads) {
      if (text) io.out(`${text}\n`);
      for (const file of mediaUrls ?? (mediaUrl ? [mediaUrl] : [])) io.out(`MEDIA:${file}\n`);
    }
  if (meta["aborted"] === true) {
    const limit = seconds === undefined ? "the configured time (agents.defaults.timeoutSeconds)" : `${seconds} s`;
    io.err(
      meta["stopReason"] === "timeout"
        ? `error: no reply within ${limit}; allow more time with --timeout <seconds>\n`
        : "error: the run was stopped before it finished\n",
    );
    return 1;
  }
  if (payloads.length === 0 && !json) io.err(`${createStyle(io.color).dim("(the agent chose not to reply)")}\n`);
  return 0;
}

/** One turn of an agent from the command line. */
export const agent = defineCommand({
  options: OPTIONS,
  examples: [
    { line: `openclaw agent --agent main --message "hello"`, does: "Send a message to the main agent" },
    { line: `openclaw agent --agent main --message "hello" --json`, does: "Reply, model and token usage as JSON" },
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
      if (!json && io.redraw) reportPendingApprovals(io, client, params.idempotencyKey);
      const done = (await client.call("agent", params, { timeoutMs, expectFinal: true })) as MethodResult<"agent">;
      return done;
    });
    return show(io, answer, { json, seconds });
  },
});
