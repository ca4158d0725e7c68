/** Runs that nobody wrote a message for: what started each. */
import { isRecord } from "../../base/records.ts";
import { formatDuration } from "../../base/text.ts";
import type { InboxRow } from "../../store/index.ts";
import { given, type RunStart, type StoryStore } from "./story.ts";

/** A scheduled run that begins later than this is called late. */
const LATE_MS = 60_000;
const MOST_CHARS = 120;

export const quoted = (text: string): string => JSON.stringify(text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text);

const textIn = (value: unknown, field: string): string | undefined => {
  const found = isRecord(value) ? value[field] : undefined;
  return typeof found === "string" && found !== "" ? found : undefined;
};

type Starts = (row: InboxRow, store: StoryStore) => RunStart | Promise<RunStart>;

/** Which job, for what time, and how late. */
async function ofJob({ messageId, receivedAt, text, agentId }: InboxRow, store: StoryStore): Promise<RunStart> {
  if (messageId.startsWith("boot:"))
    return { kind: "hook", name: "boot-md", text: `internal hook boot-md: BOOT.md of agent ${agentId ?? "?"}, at gateway startup` };
  const [, id, at] = /^cron:(.+):(\d+)$/.exec(messageId) ?? [];
  if (id === undefined) return { kind: "job", text: "scheduled job" };
  // A job that was deleted is still named in what it asked.
  const name = textIn((await store.read("cron.job.get", { id }))?.job, "name") ?? /^\[cron:\S+ ([^\]\n]+)\]/.exec(text)?.[1];
  const lateMs = receivedAt - Number(at);
  const late = lateMs < LATE_MS ? "" : `, ${formatDuration(lateMs)} late`;
  const called = name === undefined ? id : `${quoted(name)} (${id})`;
  return { kind: "job", ...given({ name }), id, text: `scheduled job ${called}, due ${new Date(Number(at)).toISOString()}${late}` };
}

function ofHeartbeat({ agentId, payload }: InboxRow): RunStart {
  const beat = isRecord(payload) ? payload["heartbeat"] : undefined;
  const why = isRecord(beat) && beat["isRelay"] === true ? ", to handle new events" : "";
  return { kind: "heartbeat", ...given({ name: agentId }), text: `heartbeat of agent ${agentId ?? "?"}${why}` };
}

function ofWebhook({ messageId, text }: InboxRow): RunStart {
  const name = /^Task: (.+?) \| Job ID: /.exec(text)?.[1] ?? /^\[hook:\S+ ([^\]\n]+)\]/.exec(text)?.[1];
  return { kind: "webhook", ...given({ name }), id: messageId, text: `webhook${name === undefined ? "" : ` ${quoted(name)}`} (${messageId})` };
}

async function labelOf(store: StoryStore, sessionKey: string): Promise<string | undefined> {
  return textIn((await store.read("sessions.get", { key: sessionKey }))?.entry, "label");
}

async function ofSubagent({ messageId, sessionKey }: InboxRow, store: StoryStore): Promise<RunStart> {
  const key = sessionKey ?? "?";
  const [row, session] = await Promise.all([store.read("subagents.get", { runId: messageId }), store.read("sessions.get", { key })]);
  const name = textIn(row?.data, "label") ?? textIn(session?.entry, "label");
  const by = row?.requesterSessionKey ?? textIn(session?.entry, "spawnedBy");
  const text = `sub-agent task${name === undefined ? "" : ` ${quoted(name)}`}${by === undefined ? "" : `, started by session ${by}`}`;
  return { kind: "subagent", ...given({ name, sessionKey: by }), text };
}

/** The run id of a report names the sub-agent: `announce:v1:<session>:<run>`. */
async function ofReport({ messageId }: InboxRow, store: StoryStore): Promise<RunStart> {
  const [, sessionKey, runId] = /^announce:v1:(.+):([^:]+)$/.exec(messageId) ?? [];
  if (sessionKey === undefined) return { kind: "report", text: "sub-agent result" };
  const row = runId === undefined ? undefined : await store.read("subagents.get", { runId });
  const name = textIn(row?.data, "label") ?? (await labelOf(store, sessionKey));
  return {
    kind: "report",
    ...given({ name }),
    sessionKey,
    text: `result of sub-agent ${name === undefined ? sessionKey : `${quoted(name)} (${sessionKey})`}`,
  };
}

function ofSession({ payload }: InboxRow): RunStart {
  const from = textIn(isRecord(payload) ? payload["provenance"] : undefined, "sourceSessionKey");
  return { kind: "session", ...given({ sessionKey: from }), text: from === undefined ? "message from another session" : `message from session ${from}` };
}

const STARTS: Readonly<Record<string, Starts>> = {
  cron: ofJob,
  heartbeat: ofHeartbeat,
  webhook: ofWebhook,
  subagent: ofSubagent,
  announce: ofReport,
  session: ofSession,
  regenerate: ({ messageId }) => ({ kind: "command", id: messageId, text: "request to regenerate an answer" }),
  exec: ({ messageId }) => ({ kind: "command", id: messageId, text: "end of a command that needed approval" }),
};

/** What started a run; undefined when a person wrote a message. */
export async function startOf(row: InboxRow, store: StoryStore): Promise<RunStart | undefined> {
  return row.channel === "gateway" && Object.hasOwn(STARTS, row.kind) ? STARTS[row.kind]?.(row, store) : undefined;
}
