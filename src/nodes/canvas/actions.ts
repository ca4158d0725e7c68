import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Responder } from "../../conversation/index.ts";
import type { MethodParams } from "../../protocol/index.ts";
import { createMarkUntrusted, oneLine } from "../../tools/index.ts";
import { createBudgets } from "../budget.ts";

export interface CanvasActionsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly runs: Pick<Responder, "accept">;
}

/** What users do on the canvas, as messages for its agent. */
export interface CanvasActions {
  /** Resolves when the message is on disk. */
  take(action: MethodParams<"canvas.action">, sessionKey: string, connId: string): Promise<{ readonly runId: string }>;
}

const MOST_CONTEXT = 20_000;
/** Each one begins a turn: a page must not be able to spend more than a person who clicks. */
const MOST_A_MINUTE = 10;
const word = (text: string | undefined): string => oneLine(text ?? "", 64).replaceAll(/[^\p{L}\p{N}._:/-]+/gu, "_") || "-";

export function createCanvasActions({ clock, ids, runs }: CanvasActionsDeps): CanvasActions {
  const mark = createMarkUntrusted(ids);
  const budgets = createBudgets(clock, { what: "actions on the canvas", perMinute: { turns: MOST_A_MINUTE, others: MOST_A_MINUTE } });
  return {
    /** A page on the canvas can claim anything: what it sends has the rights of anyone, not of the owner, and its data is marked. */
    async take({ name, surfaceId, componentId, context, idempotencyKey }, sessionKey, connId) {
      const data = context === undefined ? "" : JSON.stringify(context, null, 2);
      if (data.length > MOST_CONTEXT) throw new AppError("INVALID_INPUT", `the context has ${data.length} characters; the limit is ${MOST_CONTEXT}`);
      budgets.take(connId, "agent.request");
      const line = `CANVAS_A2UI action=${word(name)} session=${word(sessionKey)} surface=${word(surfaceId)} component=${word(componentId)} default=update_canvas`;
      const message = data === "" || data === "{}" ? line : `${line}\n${mark(data, { source: "canvas" })}`;
      const runId = idempotencyKey === undefined ? ids.uuid() : `canvas:${idempotencyKey}`;
      await runs.accept({ runId, sessionKey, message, channel: "webchat", owner: false });
      return { runId };
    },
  };
}
