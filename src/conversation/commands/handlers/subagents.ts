/** `/subagents`, `/kill` and `/steer`: children of the session that the command is given in. */
import { AppError } from "../../../base/errors.ts";
import { clip } from "../../../base/text.ts";
import { answered, notThere, type Answer, type Handler, type Handling } from "../handling.ts";
import type { SubagentsPort, SubagentView } from "../ports.ts";

const USAGE = [
  "**Sub-agents**",
  "/subagents list - running ones, and those of the last 30 minutes",
  "/subagents kill <target|all> - stop one and everything it started",
  "/subagents log <target> [count] [tools] - show its last messages",
  "/subagents info <target> - show all details of one",
  "/subagents send <target> <message> - send it a message and wait for the reply",
  "/subagents steer <target> <message> - redirect it with a message",
  "/subagents spawn <agentId> <task> [--model m] [--thinking level] - start one",
  "A target is a number from the list, last, a label or its beginning, the beginning of a run id, or a session key.",
].join("\n");
const SEND_MS = 30_000;
const LOG_LINES = 20;
const MOST_LOG_LINES = 200;
const LINE_CHARS = 500;

type Acting = (handling: Handling, port: SubagentsPort, rest: string) => Promise<Answer>;

/** The first word, and the rest as it was written. */
function split(text: string): readonly [string, string] {
  const [, first = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  return [first, rest.trim()];
}

const list: Acting = async ({ key }, port) => {
  const children = await port.list(key);
  const [active, recent] = [children.filter((child) => child.isActive), children.filter((child) => !child.isActive)];
  const shown = (part: readonly SubagentView[]): readonly string[] => (part.length === 0 ? ["none"] : part.map(({ line }) => line));
  return ["**Active sub-agents**", ...shown(active), "", "**Last 30 minutes**", ...shown(recent)].join("\n");
};

/** The reference does not answer; what was stopped reports nothing, so nobody would see which one it was. */
const kill: Acting = async ({ key }, port, rest) => {
  if (rest === "") return "Usage: /kill <target|all>";
  const { killed, dropped, names, child } = await port.kill(key, rest);
  const below = killed - names.length;
  const reports = dropped === 0 ? "" : ` ${dropped === 1 ? "1 result is" : `${dropped} results are`} no longer reported.`;
  if (killed > 0) return `Stopped ${names.join(", ")}${below > 0 ? ` and ${below} that it started` : ""}.${reports}`;
  return child ? `${child.name} has already finished.` : `No sub-agent is running.${reports}`;
};

const log: Acting = async ({ key, ports }, port, rest) => {
  const [target, more] = split(rest);
  if (target === "") return "Usage: /subagents log <target> [count] [tools]";
  const words = more.split(/\s+/);
  const count = Math.min(MOST_LOG_LINES, Math.max(1, Number(words.find((word) => /^\d{1,4}$/.test(word)) ?? LOG_LINES)));
  const lines = await port.log(key, target, count, words.includes("tools"));
  if (lines.length === 0) return "No messages yet.";
  return ports.redact(lines.map(({ role, text }) => `${role}: ${clip(text.replaceAll(/\s+/g, " "), LINE_CHARS)}`).join("\n"));
};

const time = (at: number | undefined): string => (at === undefined ? "-" : new Date(at).toISOString());

const info: Acting = async ({ key }, port, rest) => {
  if (rest === "") return "Usage: /subagents info <target>";
  const child = await port.find(key, rest);
  const { tokens } = child;
  const lines: readonly (readonly [string, string | number])[] = [
    ["Status", child.status],
    ["Label", child.name],
    ["Task", clip(child.task.replaceAll(/\s+/g, " "), LINE_CHARS)],
    ["Run", child.runId],
    ["Session", child.sessionKey],
    ["SessionId", child.sessionId ?? "-"],
    ["Started by", child.requesterSessionKey],
    ["Depth", child.depth],
    ["Model", child.model ?? "default"],
    ["Runtime", `${Math.round(child.runtimeMs / 1000)}s`],
    ["Tokens", `${tokens.total} (in ${tokens.input} / out ${tokens.output})`],
    ["Created", time(child.createdAt)],
    ["Began", time(child.startedAt)],
    ["Ended", time(child.endedAt)],
    ["Cleanup", child.cleanup],
    ["Archive", time(child.archiveAt)],
    ...(child.error === undefined ? [] : [["Error", child.error] as const]),
  ];
  return ["**Sub-agent**", ...lines.map(([name, value]) => `${name}: ${value}`)].join("\n");
};

const send: Acting = async ({ key, call }, port, rest) => {
  const [target, message] = split(rest);
  if (message === "") return "Usage: /subagents send <target> <message>";
  call.tookLong?.();
  const outcome = await port.send(key, target, message, SEND_MS);
  if (!outcome) return "No reply within 30 seconds; /subagents log shows it when it arrives.";
  if (outcome.status === "error") return `⚠️ It failed: ${outcome.error}`;
  return outcome.text === "" || outcome.silent === true ? "Empty reply." : outcome.text;
};

const steer: Acting = async ({ key, call }, port, rest) => {
  const [target, message] = split(rest);
  if (message === "") return "Usage: /steer <target> <message>";
  call.tookLong?.();
  const done = await port.steer(key, target, message);
  return "done" in done ? `${done.done.name} has already finished.` : `Steered ${done.child.name}: it continues with your message.`;
};

const OPTION = /(?:^|\s)--(model|thinking)\s+(\S+)/g;

const spawn: Acting = async ({ key, call, ports }, port, rest) => {
  const options = new Map([...rest.matchAll(OPTION)].map(([, name = "", value = ""]) => [name, value]));
  const [agentId, task] = split(rest.replaceAll(OPTION, ""));
  if (task === "") return "Usage: /subagents spawn <agentId> <task> [--model m] [--thinking level]";
  const result = await port.spawn(call, {
    sessionKey: key,
    cause: call.messageKey ?? ports.ids.uuid(),
    agentId,
    task,
    model: options.get("model"),
    thinking: options.get("thinking"),
  });
  if (result.status !== "accepted") return `⚠️ Not started: ${result.error}`;
  return `Started ${agentId} (${result.runId.slice(0, 8)}). The result is posted here when it is ready.`;
};

const ACTIONS: Readonly<Record<string, Acting>> = { list, kill, log, info, send, steer, tell: steer, spawn, help: async () => USAGE };

async function acting(handling: Handling, action: Acting, rest: string): Promise<Answer> {
  const port = handling.ports.subagents;
  if (!port) return notThere(handling.name, "this gateway has no sub-agents");
  try {
    return await action(handling, port, rest);
  } catch (error) {
    if (error instanceof AppError && (error.code === "INVALID_INPUT" || error.code === "OVERLOADED" || error.code === "CONFLICT"))
      return answered(`⚠️ ${error.message}`, `/${handling.name} was refused`);
    throw error;
  }
}

export const subagents: Handler = (handling) => {
  const [word, rest] = split(handling.args);
  const action = ACTIONS[word === "" ? "list" : word.toLowerCase()];
  return acting(handling, action ?? (async () => USAGE), rest);
};

export const killOne: Handler = (handling) => acting(handling, kill, handling.args.trim());

export const steerOne: Handler = (handling) => acting(handling, steer, handling.args.trim());
