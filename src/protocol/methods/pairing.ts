import { method } from "../method.ts";
import { closed, effect, filled, flag, list, map, maybe, moment, text } from "../pieces.ts";

const sender = { channel: filled(), accountId: filled(), senderId: filled(), meta: map(text()) };
const decision = { channel: filled(), code: filled({ maxLength: 64 }), accountId: maybe(filled()) };

/** Strangers of chat platforms that ask to be let in. */
export const pairingMethods = {
  "channels.pairing.list": method({
    access: "operator.pairing",
    params: closed({ channel: maybe(filled()), accountId: maybe(filled()) }),
    result: closed({ requests: list(closed({ ...sender, code: filled(), createdAtMs: moment(), lastSeenAtMs: moment(), expiresAtMs: moment() })) }),
    effect: false,
    room: "channels",
    summary: "Senders that wait to be let in, with their codes.",
  }),
  "channels.pairing.approve": method({
    access: "operator.pairing",
    params: effect({ ...decision, notify: maybe(flag()) }),
    result: closed({ ...sender, notified: flag() }),
    effect: true,
    room: "channels",
    summary: "Lets the sender in that holds the code, on its account only; with `notify` it is told.",
  }),
  "channels.pairing.reject": method({
    access: "operator.pairing",
    params: effect(decision),
    result: closed(sender),
    effect: true,
    room: "channels",
    summary: "Turns the sender away that holds the code.",
  }),
};
