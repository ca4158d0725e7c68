import type { ShownRun } from "../../../protocol/index.ts";
import type { RunEvent, ToolEvent } from "../../ports.ts";
import { shownValue } from "./tool-events.ts";

/** What a run has said since its last entry in the transcript: for who comes while it is under way. */
export interface LivePart {
  text: string;
  thinking: string;
  /** Calls without a result, by id, with the last thing that was told of each. */
  readonly tools: Map<string, ToolEvent>;
}

interface LiveRun {
  readonly runId: string;
  readonly sessionKey: string;
  readonly startedAt?: number;
  readonly live: LivePart;
}

/** An answer that means "say nothing". */
export const SILENCE = "NO_REPLY";

export const newLivePart = (): LivePart => ({ text: "", thinking: "", tools: new Map() });

export function keepLive(live: LivePart, { stream, data }: Exclude<RunEvent, { stream: "assistant" | "lifecycle" }>): void {
  if (stream === "thinking") live.thinking = data.text;
  else if (stream === "tool") {
    if (data.phase === "result") live.tools.delete(data.toolCallId);
    else live.tools.set(data.toolCallId, data);
  }
}

/** It is in the transcript now. */
export function writtenDown(live: LivePart | undefined): void {
  if (live) live.text = live.thinking = "";
}

function shownRun({ runId, live }: LiveRun, startedAt: number, thinking: boolean): ShownRun {
  const tools = [...live.tools.values()].map((event) => ({
    toolCallId: event.toolCallId,
    name: event.name,
    ...(event.phase === "update" ? { partialResult: shownValue(event.partialResult) } : {}),
  }));
  return {
    runId,
    startedAt,
    ...(live.text === "" || SILENCE.startsWith(live.text.trim()) ? {} : { text: live.text }),
    ...(thinking && live.thinking !== "" ? { thinking: live.thinking } : {}),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** Runs of a session that have begun. */
export function shownRuns(runs: Iterable<LiveRun>, sessionKey: string, thinking: boolean): readonly ShownRun[] {
  const shown: ShownRun[] = [];
  for (const run of runs) if (run.sessionKey === sessionKey && run.startedAt !== undefined) shown.push(shownRun(run, run.startedAt, thinking));
  return shown;
}
