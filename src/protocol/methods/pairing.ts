import { method } from "../method.ts";
import { closed, effect, filled, flag, list, map, maybe, moment, text } from "../pieces.ts";

const sender = { channel: filled(), accountId: filled(), senderId: filled(), meta: map(text()) };
const decision = { channel: filled(), code: filled({ maxLength: 64 }), accountId: maybe(filled()) };

const owned = {
  owner: flag({ description: "The sender is an owner now: `commands.ownerAllowFrom` names them." }),
  hasOwner: flag({ description: "At least one owner is configured." }),
};

const place = { channel: filled(), accountId: filled(), senderId: filled() };

/** Strangers of chat platforms that ask to be let in. */
export const pairingMethods = {
  "channels.pairing.list": method({
    access: "operator.pairing",
    params: closed({ channel: maybe(filled()), accountId: maybe(filled()) }),
    result: closed({
      requests: list(closed({ ...sender, code: filled(), createdAtMs: moment(), lastSeenAtMs: moment(), expiresAtMs: moment() })),
      hasOwner: owned.hasOwner,
    }),
    effect: false,
    module: "channels",
    summary: "Lists senders that wait for approval, with their codes.",
  }),
  "channels.pairing.approve": method({
    access: "operator.pairing",
    params: effect({
      ...decision,
      notify: maybe(flag()),
      owner: maybe(flag({ description: "Also makes the sender an owner. Needs `operator.admin`." })),
    }),
    result: closed({ ...sender, notified: flag(), ...owned }),
    effect: true,
    module: "channels",
    summary: "Approves the sender with the code, on its account only; with `notify` the sender is notified.",
  }),
  "channels.pairing.owner": method({
    access: "operator.admin",
    params: effect({ channel: filled(), senderId: filled({ maxLength: 512 }), remove: maybe(flag()) }),
    result: closed({ owners: list(closed({ path: text(), entries: list(text()) })) }),
    effect: true,
    module: "channels",
    summary: "Adds a sender to `commands.ownerAllowFrom`, or removes it with `remove`; returns the resulting owners.",
  }),
  "channels.pairing.reject": method({
    access: "operator.pairing",
    params: effect(decision),
    result: closed(sender),
    effect: true,
    module: "channels",
    summary: "Rejects the sender with the code.",
  }),
  "channels.pairing.allowed": method({
    access: "operator.pairing",
    params: closed({ channel: maybe(filled()), accountId: maybe(filled()) }),
    result: closed({
      senders: list(
        closed({
          ...place,
          source: text({ description: "`pairing`: by a code; `command`: by hand; `import`: by an earlier system; `config`: the configuration names it." }),
          addedAtMs: maybe(moment()),
          path: maybe(text({ description: "Where the configuration names it." })),
        }),
      ),
    }),
    effect: false,
    module: "channels",
    summary: "Lists who may write, by account: approved by pairing, and named by the configuration (`*` is everybody).",
  }),
  "channels.pairing.revoke": method({
    access: "operator.pairing",
    params: effect({ channel: filled(), accountId: maybe(filled()), senderId: filled({ maxLength: 512 }) }),
    result: closed({ ...place, path: maybe(text({ description: "Where the configuration still allows the sender." })) }),
    effect: true,
    module: "channels",
    summary: "Removes a sender from the approved ones: its next message counts as from an unknown sender.",
  }),
};
