import type { Ids } from "../../base/ids.ts";
import type { EntryInput } from "../../store/index.ts";

const ZERO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

export interface EchoTurn {
  readonly runId: string;
  readonly message: string;
  readonly text: string;
  readonly aborted: boolean;
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

/** The two entries that a turn leaves behind: what was said, and the answer. */
export function turnEntries(turn: EchoTurn, leafId: string | null, ids: Ids): readonly EntryInput[] {
  const said = entry(ids, leafId, turn.startedAt, { role: "user", content: [{ type: "text", text: turn.message }], timestamp: turn.startedAt });
  const abort = { idempotencyKey: `${turn.runId}:assistant`, openclawAbort: { aborted: true, origin: turn.origin ?? "rpc", runId: turn.runId } };
  const answer = entry(ids, said.id, turn.endedAt, {
    role: "assistant",
    content: turn.text === "" ? [] : [{ type: "text", text: turn.text }],
    api: "openai-responses",
    provider: "openclaw",
    model: "echo",
    usage: ZERO_USAGE,
    stopReason: turn.aborted ? "aborted" : "stop",
    timestamp: turn.endedAt,
    ...(turn.aborted ? abort : {}),
  });
  return [said, answer];
}
