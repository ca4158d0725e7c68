import type { MessageHooks } from "../events/index.ts";
import type { HookSpec } from "../spec.ts";
import { cancelEnds, cancelling, decide, handled, handledEnds, observe } from "./kinds.ts";

/** Inbound and outbound messages. */
export const messageHooks: Readonly<Record<keyof MessageHooks, HookSpec>> = {
  inbound_claim: decide("messages", "A message has arrived and is not claimed yet: claims it, with or without an answer.", {
    fields: { handled, reply: { type: "record", merge: "first" } },
    terminal: handledEnds,
    whole: {},
  }),
  message_received: observe("messages", "A message has arrived."),
  before_dispatch: decide("messages", "Before a message is dispatched: rewrites it, answers it, or stops it.", {
    fields: {
      handled,
      text: { type: "text", merge: "last", withTerminal: true },
      content: { type: "text", merge: "last", rewrites: "content" },
      ...cancelling,
    },
    terminal: [...handledEnds, ...cancelEnds],
  }),
  reply_dispatch: decide("messages", "The last step of sending a reply: takes part, or takes over.", {
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
    "A reply in its final form is about to go out: rewrites or cancels it. Trust markers are neither shown nor accepted.",
    {
      fields: { payload: { type: "record", merge: "last", rewrites: "payload" }, ...cancelling },
      hides: { in: "payload", keys: ["trustedLocalMedia"] },
      terminal: cancelEnds,
    },
  ),
  message_sent: observe("messages", "A message was sent, or could not be sent."),
};
