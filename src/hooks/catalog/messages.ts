import type { MessageHooks } from "../events/index.ts";
import type { HookSpec } from "../spec.ts";
import { cancelEnds, cancelling, decide, handled, handledEnds, observe } from "./kinds.ts";

/** Inbound and outbound messages. */
export const messageHooks: Readonly<Record<keyof MessageHooks, HookSpec>> = {
  inbound_claim: decide("messages", "A message has come in and belongs to nobody yet: takes it, with an answer or in silence.", {
    fields: { handled, reply: { type: "record", merge: "first" } },
    terminal: handledEnds,
    whole: {},
  }),
  message_received: observe("messages", "A message has come in."),
  before_dispatch: decide("messages", "Before a dispatch is handed on: rewrites it, answers it, or stops it.", {
    fields: {
      handled,
      text: { type: "text", merge: "last", withTerminal: true },
      content: { type: "text", merge: "last", rewrites: "content" },
      ...cancelling,
    },
    terminal: [...handledEnds, ...cancelEnds],
  }),
  reply_dispatch: decide("messages", "The last step of sending a reply: takes part, or takes it over.", {
    fields: { handled, queuedFinal: { type: "flag", merge: "first" }, counts: { type: "record", merge: "first" } },
    terminal: handledEnds,
    whole: {},
    live: ["dispatcher", "cfg"],
  }),
  message_sending: decide("messages", "A message is about to go out: rewrites or cancels it.", {
    fields: {
      content: { type: "text", merge: "last", rewrites: "content" },
      ...cancelling,
      metadata: { type: "record", merge: "last", withTerminal: true, maxChars: 4096 },
    },
    terminal: cancelEnds,
  }),
  reply_payload_sending: decide(
    "messages",
    "A reply in its final shape is about to go out: rewrites or cancels it. Marks of trust are neither shown nor taken.",
    {
      fields: { payload: { type: "record", merge: "last", rewrites: "payload" }, ...cancelling },
      hides: { in: "payload", keys: ["trustedLocalMedia"] },
      terminal: cancelEnds,
    },
  ),
  message_sent: observe("messages", "A message went out, or could not."),
};
