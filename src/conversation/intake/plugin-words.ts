import type { FinalizedMsgContext, ReplyPayload } from "../../protocol/index.ts";
import type { ConversationDeps } from "../ports.ts";
import type { Endings } from "./endings.ts";
import type { HookNotes } from "./hook-notes.ts";
import type { Inbound } from "./inbound-record.ts";
import { claimEvent, dispatchEvent, inboundContext, receivedEvent } from "./inbound-hooks.ts";
import type { Group } from "./joined.ts";
import { messageContext } from "./message-context.ts";

/** What plugins have to say about a message before a turn. */
export interface PluginWords {
  /** `message_received` and `inbound_claim`. True: a plugin took it. */
  claimed(inbound: Inbound): Promise<boolean>;
  /** `before_dispatch`: the text as a plugin wants it. Undefined: it was dealt with. */
  dispatched(group: Group, ctx: FinalizedMsgContext, text: string): Promise<string | undefined>;
}

const outcomeOf = (reply: readonly ReplyPayload[]): "silent" | "answered" => (reply.length === 0 ? "silent" : "answered");

export function createPluginWords({ hooks, internalHooks }: ConversationDeps, { settle }: Endings, notes: HookNotes): PluginWords {
  return {
    async claimed(inbound) {
      const ctx = messageContext(inbound);
      const context = inboundContext(inbound, ctx);
      if (hooks.has("message_received")) void hooks.run("message_received", receivedEvent(inbound, ctx), context);
      void internalHooks?.()?.trigger("message", "received", inbound.sessionKey, { ...receivedEvent(inbound, ctx) });
      if (!hooks.has("inbound_claim")) return false;
      const claim = await notes.asking(inbound, (logged) => logged.run("inbound_claim", claimEvent(inbound, ctx), context));
      if (!claim?.handled) return false;
      const reply = claim.reply ? [claim.reply as ReplyPayload] : [];
      await settle([inbound], outcomeOf(reply), `claimed by ${claim.decidedBy ?? "a plugin"}`, reply);
      return true;
    },
    async dispatched(group, ctx, text) {
      if (!hooks.has("before_dispatch")) return text;
      const last = group.at(-1)!;
      const answer = await notes.asking(last, (logged) => logged.run("before_dispatch", dispatchEvent(last, ctx, text), inboundContext(last, ctx)));
      if (!answer?.cancel && !answer?.handled) return answer?.content ?? text;
      const by = answer.decidedBy ?? "a plugin";
      if (answer.cancel) await settle(group, "refused", `stopped by ${by}${answer.cancelReason === undefined ? "" : `: ${answer.cancelReason}`}`);
      else {
        const reply = answer.text === undefined ? [] : [{ text: answer.text }];
        await settle(group, outcomeOf(reply), `answered by ${by}`, reply);
      }
      return undefined;
    },
  };
}
