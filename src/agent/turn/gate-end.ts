import { messageOf } from "../../base/errors.ts";
import { gatewayMessage, messageEntry, type MessageExtras } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { finishTurn } from "./finish.ts";
import type { Gate } from "./gates.ts";
import type { TurnEnd } from "./input.ts";
import { firstMessages } from "./prepare.ts";
import type { Draft } from "./record.ts";
import type { Stage } from "./stage.ts";
import { tellEnd } from "./told.ts";

/** Plugins answered in the model's place, or kept the message away from it. */
export async function endAtGate(stage: Stage, gate: Gate): Promise<TurnEnd> {
  const { deps, input, ports, turn, record, startedAt } = stage;
  const endedAt = deps.clock.now();
  const { text } = gate;
  const base = { text, texts: text === "" ? [] : [text], sessionId: turn.place.sessionId, startedAt, endedAt, usage: [] };
  if (text !== "") ports.emit({ stream: "assistant", data: { text, delta: text } });
  if (gate.kind === "replied") {
    record.said(turn.prompt!);
    const made: TurnEnd = { ...base, status: "ok", ...(text === "" ? { silent: true } : {}) };
    const draft =
      (shown: MessageExtras): Draft =>
      (at) =>
        messageEntry(at, { ...gatewayMessage("gateway-injected", text, at.at), ...shown });
    const end = await finishTurn(stage, made, (shown) => (text === "" ? [] : [draft(shown)]));
    tellEnd(deps, input, turn, { end, answers: [], messages: firstMessages(turn) });
    return end;
  }
  const end: TurnEnd = { ...base, status: "blocked", error: `blocked by ${gate.pluginId ?? "a plugin"}` };
  // The message itself is kept nowhere: not in the transcript, the inbox or the log of the database.
  const block = { pluginId: gate.pluginId, at: endedAt };
  const stands = { role: "user", content: [{ type: "text", text }], timestamp: endedAt, openclawBlock: block } as const;
  record.later(
    [],
    input.inboxIds.map((id): Write => ["inbox.redact", { id, text: "" }]),
  );
  const ended = await finishTurn(stage, end, (shown) => [(at) => messageEntry(at, { ...stands, ...shown })]);
  await deps.store.checkpoint({ truncate: true }).catch((error: unknown) => deps.log.warn(`the log could not be emptied: ${messageOf(error)}`));
  return ended;
}
