/** What a child found, and how it is reported. */
import { textOf } from "../../base/message-text.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { parseTranscriptLine, type SessionEntry } from "../../protocol/index.ts";
import { transcriptFile, type Store } from "../../store/index.ts";
import { nameOf, runtimeText, type Child, type SubagentsDeps } from "./child.ts";

const NO_OUTPUT = "(no output)";
const NO_REPLY = "NO_REPLY";
/** Entries of a transcript that are looked at for a result. */
const ENTRIES = 60;
const RESULT_CHARS = 60_000;

/** A message of a session as it is shown. */
export interface ShownLine {
  readonly role: string;
  readonly text: string;
  readonly at: number;
}

/** The last messages of a session that have a text, oldest first. */
export async function lastMessages(store: Pick<Store, "read">, sessionKey: string, limit = ENTRIES): Promise<readonly ShownLine[]> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return [];
  const rows = await store.read("transcripts.path", { file: transcriptFile(session.agentId, session.entry.sessionId), limit });
  return rows.flatMap(({ line }) => {
    const parsed = parseTranscriptLine(line);
    const message = parsed?.kind === "entry" ? parsed.entry["message"] : undefined;
    if (!isRecord(message)) return [];
    const text = textOf(message).trim();
    const at = typeof message["timestamp"] === "number" ? message["timestamp"] : 0;
    return text === "" ? [] : [{ role: String(message["role"]), text, at }];
  });
}

/** The messages of a child that belong to its task: what it answered to questions of others in between does not. */
async function ownMessages(store: Pick<Store, "read">, { childSessionKey: sessionKey, createdAt }: Child): Promise<readonly ShownLine[]> {
  const lines = await lastMessages(store, sessionKey);
  const spans = await store.read("turns.spans", { sessionKey, from: createdAt, until: Number.MAX_SAFE_INTEGER, limit: ENTRIES });
  const questions = spans.filter(({ kind }) => kind === "session");
  return lines.filter(({ at }) => !questions.some(({ startedAt, endedAt }) => at > startedAt && at <= (endedAt ?? Number.MAX_SAFE_INTEGER)));
}

/** Whether a child said in the end that there is nothing to report. */
export async function isSilent(store: Pick<Store, "read">, child: Child): Promise<boolean> {
  return child.outcome === "ok" && (await ownMessages(store, child)).findLast(({ role }) => role === "assistant")?.text === NO_REPLY;
}

/** The latest text of the assistant, else of a tool. */
async function findingsOf(store: Pick<Store, "read">, child: Child): Promise<string> {
  const lines = await ownMessages(store, child);
  const last = (role: string): string | undefined => lines.findLast((line) => line.role === role && line.text !== NO_REPLY)?.text;
  const found = last("assistant") ?? last("toolResult") ?? NO_OUTPUT;
  return found.length <= RESULT_CHARS
    ? found
    : `${found.slice(0, RESULT_CHARS)}\n[${found.length - RESULT_CHARS} more characters were cut; sessions_history shows them]`;
}

const COMMAND_CHARS = 120;

/** What a child found, and which of its commands still run: it has ended, and they have not. */
export async function resultOf({ store, runningCommands }: Pick<SubagentsDeps, "store" | "runningCommands">, child: Child): Promise<string> {
  const [findings, commands] = await Promise.all([findingsOf(store, child), runningCommands(child.childSessionKey)]);
  if (commands.length === 0) return findings;
  const list = commands.map((command) => `- ${clip(command.replaceAll(/\s+/g, " "), COMMAND_CHARS)}`).join("\n");
  return `${findings}\n\nStill running in the background:\n${list}\nHow it ends is reported here.`;
}

/** How it ended, as the end of a sentence. */
function endText({ outcome, data: { error } }: Child): string {
  if (outcome === "ok") return "just completed successfully";
  if (outcome === "timeout") return "timed out";
  return outcome === "error" ? `failed: ${error ?? "unknown error"}` : "finished with unknown status";
}

/** What a child has used, also in turns that failed. */
export async function tokensOf(store: Pick<Store, "read">, { childSessionKey }: Pick<Child, "childSessionKey">): Promise<{ input: number; output: number }> {
  const [used] = await store.read("usage.totals", { sessionKey: childSessionKey, by: [] });
  return { input: used?.input ?? 0, output: used?.output ?? 0 };
}

async function statsLine(store: Pick<Store, "read">, child: Child, entry: SessionEntry | undefined): Promise<string> {
  const { startedAt, createdAt, endedAt } = child;
  const runtime = runtimeText((endedAt ?? createdAt) - (startedAt ?? createdAt));
  const { input, output } = await tokensOf(store, child);
  const prompt = typeof entry?.["totalTokens"] === "number" ? entry["totalTokens"] : 0;
  const cached = prompt > input + output ? ` • prompt/cache ${prompt}` : "";
  return `Stats: runtime ${runtime} • tokens ${input + output} (in ${input} / out ${output})${cached}`;
}

const FOR_USER =
  "Tell the user the outcome, in your own voice and as part of the conversation; do not mention this message, sessions or its numbers. Answer NO_REPLY if they already know.";
const FOR_PARENT = "Continue your own task with this. When nothing is missing any more, your answer is the result that is delivered.";

/** What the requester reads when children have ended. */
export async function announcement(deps: Pick<SubagentsDeps, "store" | "runningCommands">, children: readonly Child[], isForChild: boolean): Promise<string> {
  const { store } = deps;
  const blocks = await Promise.all(
    children.map(async (child) => {
      const entry = (await store.read("sessions.get", { key: child.childSessionKey }))?.entry;
      const head = `[System Message] [sessionId: ${entry?.sessionId ?? "unknown"}] A subagent task "${nameOf(child)}" ${endText(child)}.`;
      return `${head}\n\nResult:\n${await resultOf(deps, child)}\n\n${await statsLine(store, child, entry)}`;
    }),
  );
  return `${blocks.join("\n\n")}\n\n${isForChild ? FOR_PARENT : FOR_USER}`;
}

/** What a chat is sent when a child has ended, without a model in between. */
export function chatText(child: Child, findings: string): string {
  const { agentId, error } = child.data;
  const name = child.data.label === undefined ? agentId : `${agentId} (${child.data.label})`;
  // The documented line, with the label behind it: several results can be distinguished.
  if (child.outcome === "ok") return `✅ Subagent ${agentId} finished${child.data.label === undefined ? "" : ` (${child.data.label})`}\n\n${findings}`;
  if (child.outcome === "timeout") return `⏱️ Subagent ${name} timed out${findings === NO_OUTPUT ? "" : `\n\n${findings}`}`;
  return `❌ Subagent ${name} failed: ${error ?? "unknown error"}${findings === NO_OUTPUT ? "" : `\n\n${findings}`}`;
}

const EVENT_CHARS = 4000;

/** The same for the session's next turn: the user has seen it. Without findings the child had nothing to report. */
export function eventText(child: Child, findings: string | undefined): string {
  if (findings === undefined) return `The sub-agent task "${nameOf(child)}" ${endText(child)}; it had nothing to report.`;
  const cut = findings.length <= EVENT_CHARS ? findings : `${findings.slice(0, EVENT_CHARS)} …`;
  return `The sub-agent task "${nameOf(child)}" ${endText(child)}; its result was sent to this chat:\n${cut}`;
}
