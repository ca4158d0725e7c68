import type { ReplyPayload } from "../../protocol/index.ts";
import type { Outcome, Write } from "../../store/index.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import type { LiveReplies } from "../live/live-replies.ts";
import type { ConversationDeps } from "../ports.ts";
import type { HookNotes } from "./hook-notes.ts";
import type { Inbound } from "./inbound-record.ts";
import { traceOfMessage } from "./inbound-hooks.ts";
import type { Group } from "./joined.ts";

/** How messages end before they come to a turn. */
export interface Endings {
  /** Ends them, with what is said about it, in one commit. */
  settle(group: Group, outcome: Outcome, why: string, reply?: readonly ReplyPayload[]): Promise<void>;
  /** What belongs to an answer without a turn. */
  factsOf(inbound: Inbound): OutgoingFacts;
}

export function createEndings({ store, delivery }: ConversationDeps, lives: Pick<LiveReplies, "of" | "ended">, notes: HookNotes): Endings {
  function factsOf(inbound: Inbound): OutgoingFacts {
    const { id, sessionKey, agentId, event } = inbound;
    const live = lives.of(id)?.key;
    const answered = { senderId: event.sender.id, messageId: event.id, traceId: traceOfMessage(inbound) };
    return { kind: "command", sessionKey, agentId, ...answered, ...(live === undefined ? {} : { live }) };
  }
  return {
    factsOf,
    async settle(group, outcome, why, reply = []) {
      const last = group.at(-1)!;
      const writes: readonly Write[] = reply.length === 0 ? [] : (await delivery.prepare(last.address, reply, factsOf(last))).writes;
      await store.commit([["inbox.settle", { ids: group.map(({ id }) => id), outcome, why, hooks: notes.of(group) }], ...writes]);
      if (writes.length > 0) delivery.kick();
      lives.ended(group.map(({ id }) => id));
    },
  };
}
