import type { HookLogEntry } from "../../hooks/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { Write } from "../../store/index.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { decideShown, isDecided, tellShown } from "../delivery/shown-replies.ts";
import type { ConversationDeps } from "../ports.ts";
import { addressOfClient, clientFacts } from "./client-message.ts";
import type { AcceptedRow } from "./run-log.ts";

export type ClientReplyDeps = Pick<ConversationDeps, "hooks" | "internalHooks" | "clock" | "log" | "delivery" | "redact">;

/** What is said to a client, after plugins had their say. */
export interface ClientReply {
  /** Rows for the chat that it is also sent to. */
  readonly writes: readonly Write[];
  /** What the client is shown, message by message. */
  readonly texts: readonly string[];
  /** Whether a plugin changed or cancelled something. */
  readonly changed: boolean;
  readonly log: readonly HookLogEntry[];
  /** Call when the writes are committed and the client was shown the texts. */
  sent(): void;
}

export const textsOf = (payloads: readonly ReplyPayload[]): readonly string[] =>
  payloads.flatMap(({ text }) => (text === undefined || text === "" ? [] : [text]));

/** Whether plugins decide about what this client is shown, so that nothing may be shown before they have. */
export const isHeld = (deps: Pick<ConversationDeps, "hooks">, row: AcceptedRow): boolean =>
  isDecided(deps, row.reply ?? addressOfClient(row), clientFacts(row, "final"));

/** Asks plugins about an answer, once: as a message of the chat that it is also sent to, or as one of the client's own conversation. */
export async function clientReply(
  deps: ClientReplyDeps,
  row: AcceptedRow,
  payloads: readonly ReplyPayload[],
  more: Pick<OutgoingFacts, "kind" | "usageState">,
): Promise<ClientReply> {
  const facts = { ...clientFacts(row, more.kind), ...more };
  if (row.reply) {
    const { writes, decided } = await deps.delivery.prepare(row.reply, payloads, facts);
    return { writes, texts: decided ?? textsOf(payloads), changed: decided !== undefined, log: [], sent: () => deps.delivery.kick() };
  }
  const address = addressOfClient(row);
  const { texts, changed, log } = await decideShown(payloads, address, facts, deps);
  return { writes: [], texts, changed, log, sent: () => tellShown(texts, address, facts, { ...deps, id: row.runId }) };
}
