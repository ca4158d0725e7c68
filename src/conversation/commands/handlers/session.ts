import { answered, count, type Handler, type Handling } from "../handling.ts";
import { contextUse } from "./status.ts";

const plural = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`;

/** Ends what runs before anything else is done. */
export const stop: Handler = async ({ ports, call, key }) => {
  const { runIds, turns = runIds.length, waiting = 0, processes = 0, subagents = 0 } = await ports.runs.stop(key);
  const entry = await ports.session.read(key);
  if (entry && turns > 0) await ports.session.patch(key, call.agentId, { abortedLastRun: true });
  const told = await ports.fire("stop", key, { sessionEntry: entry, sessionId: entry?.sessionId, commandSource: call.channel, senderId: call.senderId });
  const parts = [
    waiting > 0 ? `dropped ${plural(waiting, "waiting message", "waiting messages")}` : "",
    processes > 0 ? `killed ${plural(processes, "process", "processes")}` : "",
    subagents > 0 ? `stopped ${plural(subagents, "sub-agent", "sub-agents")}` : "",
  ].filter((part) => part !== "");
  const first = runIds.length > 0 ? "Stopped." : parts.length > 0 ? "No run was active." : "Nothing was running.";
  const text = parts.length === 0 ? first : `${first} Also ${parts.join(", ")}.`;
  return { ...answered([text, ...told].join("\n"), "stop"), stopped: runIds };
};

export const compact: Handler = async ({ ports, call, key, args }) => {
  call.tookLong?.();
  const report = await ports.session.compact(key, call.agentId, args === "" ? undefined : args, call.signal);
  const text = report.compacted ? `Compacted (${count(report.tokensBefore)} → ${count(report.tokensAfter)} tokens)` : `Not compacted: ${report.reason}`;
  const use = contextUse(await ports.session.read(key), undefined);
  const line = use === undefined ? text : `${text} • Context ${use}`;
  if (report.compacted) await ports.systemEvent?.(key, line);
  return line;
};

/** How the last message was answered. */
export async function trace({ ports, key, args }: Handling): Promise<string> {
  if (!ports.why) return "/trace is not there yet: nothing tells the story of a message.";
  const story = await ports.why(key, args === "" ? undefined : args.slice(0, 200));
  return story === undefined || story === "" ? "Nothing is known yet: no message of this session was answered." : ports.redact(story);
}
