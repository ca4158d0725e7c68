import type { FinalizedMsgContext, ReplyPayload } from "../../protocol/index.ts";
import type { CommandVerdict } from "../commands/commands.ts";
import type { ConversationDeps } from "../ports.ts";
import type { HookNotes } from "./hook-notes.ts";
import type { Inbound } from "./inbound-record.ts";
import { claimEvent, dispatchEvent, inboundContext, receivedEvent } from "./inbound-hooks.ts";
import { messageContext } from "./message-context.ts";

/** How a message ends that a plugin has dealt with. */
export type PluginVerdict = Extract<CommandVerdict, { readonly kind: "answered" }>;

/** What plugins have to say about a message before a turn, wherever it came from. */
export interface PluginWords {
  /** `message_received`, for plugins and for internal hooks. Nobody waits for them. */
  received(inbound: Inbound): void;
  /** `inbound_claim`. Undefined: nobody took it. */
  claimed(inbound: Inbound): Promise<PluginVerdict | undefined>;
  /** `before_dispatch`: the text as a plugin wants it, or that it was dealt with. */
  dispatched(last: Inbound, ctx: FinalizedMsgContext, text: string): Promise<string | PluginVerdict>;
}

function answered(reply: readonly ReplyPayload[], why: string): PluginVerdict {
  return { kind: "answered", outcome: reply.length === 0 ? "silent" : "answered", why, reply };
}

export function createPluginWords({ hooks, internalHooks }: Pick<ConversationDeps, "hooks" | "internalHooks">, notes: HookNotes): PluginWords {
  return {
    received(inbound) {
      const internal = internalHooks?.();
      if (!hooks.has("message_received") && !internal?.has("message", "received")) return;
      const ctx = messageContext(inbound);
      if (hooks.has("message_received")) void hooks.run("message_received", receivedEvent(inbound, ctx), inboundContext(inbound, ctx));
      void internal?.trigger("message", "received", inbound.sessionKey, { ...receivedEvent(inbound, ctx) });
    },
    async claimed(inbound) {
      if (!hooks.has("inbound_claim")) return undefined;
      const ctx = messageContext(inbound);
      const claim = await notes.asking(inbound, (logged) => logged.run("inbound_claim", claimEvent(inbound, ctx), inboundContext(inbound, ctx)));
      if (!claim?.handled) return undefined;
      return answered(claim.reply ? [claim.reply] : [], `claimed by ${claim.decidedBy ?? "a plugin"}`);
    },
    async dispatched(last, ctx, text) {
      if (!hooks.has("before_dispatch")) return text;
      const answer = await notes.asking(last, (logged) => logged.run("before_dispatch", dispatchEvent(last, ctx, text), inboundContext(last, ctx)));
      if (!answer?.cancel && !answer?.handled) return answer?.content ?? text;
      const by = answer.decidedBy ?? "a plugin";
      if (!answer.cancel) return answered(answer.text === undefined ? [] : [{ text: answer.text }], `answered by ${by}`);
      const reason = answer.cancelReason === undefined ? "" : `: ${answer.cancelReason}`;
      return { kind: "answered", outcome: "refused", why: `stopped by ${by}${reason}`, reply: [] };
    },
  };
}
