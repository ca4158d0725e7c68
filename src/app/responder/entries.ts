import type { Ids } from "../../base/ids.ts";
import type { EntryInput } from "../../store/index.ts";
import type { AnswerEnd } from "./answer.ts";

export interface FinishedTurn {
  readonly runId: string;
  /** What the user said. */
  readonly said: string;
  /** What was shown of the answer. */
  readonly text: string;
  readonly end: AnswerEnd;
  /** Why it was aborted: `rpc`, `stop-command`, `timeout`. */
  readonly origin?: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** First line of a transcript file. */
export function headerLine(sessionId: string, now: number): string {
  return JSON.stringify({ type: "session", version: 3, id: sessionId, timestamp: new Date(now).toISOString() });
}

function entry(ids: Ids, parentId: string | null, at: number, message: object): EntryInput & { readonly id: string } {
  const id = ids.hex(4);
  const line = JSON.stringify({ type: "message", id, parentId, timestamp: new Date(at).toISOString(), message });
  return { id, parentId, type: "message", at, line };
}

/** The two entries that a turn leaves behind: what was said, and the answer. Of an aborted one what was shown stays. */
export function turnEntries(turn: FinishedTurn, leafId: string | null, ids: Ids): readonly EntryInput[] {
  const { end, text } = turn;
  const said = entry(ids, leafId, turn.startedAt, { role: "user", content: [{ type: "text", text: turn.said }], timestamp: turn.startedAt });
  const abort = { idempotencyKey: `${turn.runId}:assistant`, openclawAbort: { aborted: true, origin: turn.origin ?? "rpc", runId: turn.runId } };
  const shown = end.status === "aborted" ? { content: text === "" ? [] : [{ type: "text", text }], stopReason: "aborted", ...abort } : {};
  return [said, entry(ids, said.id, turn.endedAt, { ...end.message, ...shown, timestamp: turn.endedAt })];
}
