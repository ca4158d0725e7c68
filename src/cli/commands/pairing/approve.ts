import { shellWord } from "../../../base/text.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { printable } from "../plugins/record.ts";
import { chosen, ownSender, PAIRING_OPTIONS, withPairing, type Approved } from "./source.ts";

const OWNERS_MAY = "An owner may loosen how commands run, decide about approvals and change the configuration from a chat.";

/** The first approved sender is usually the person who runs the gateway: offers to make them its owner. */
async function offerOwner(io: Io, { channel, senderId }: Approved, own: () => Promise<unknown>): Promise<void> {
  const who = `${channel}:${printable(senderId)}`;
  if (io.interactive) {
    io.out(`This gateway has no owner yet. ${OWNERS_MAY}\nOnce there is one, other senders give no commands unless commands.allowFrom names them.\n`);
    if (await io.confirm(`Make ${who} the owner?`)) {
      await own();
      return io.out(`${who} is the owner now\n`);
    }
  }
  const word = shellWord(senderId);
  io.err(`this gateway has no owner${word === undefined ? "" : `; to make ${who} the owner, run:\n  openclaw pairing owner ${channel} ${word}`}\n`);
}

export const approve = defineCommand({
  positionals: "<channel> <code>",
  options: {
    ...PAIRING_OPTIONS,
    notify: { type: "boolean", help: "tell the sender" },
    owner: { type: "boolean", help: "make the sender an owner, who may do everything from a chat" },
  },
  examples: [
    { line: "openclaw pairing approve telegram ABCD2345", does: "let in who was given this code" },
    { line: "openclaw pairing approve ABCD2345 --notify", does: "the same on whichever channel, and tell them" },
    { line: "openclaw pairing approve telegram ABCD2345 --owner", does: "it is you: let yourself in as the owner" },
  ],
  async run({ io, values, positionals }) {
    const wanted = { notify: values.notify ?? false, owner: values.owner ?? false };
    const done = await withPairing(io, values, async (source) => source.approve(await chosen(source, positionals, values), wanted));
    if (values.notify && !done.notified) io.err("the sender was not notified: no gateway is running, or the channel could not send\n");
    if (values.json) return printJson(io, done);
    io.out(`let in: ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}${done.owner ? ", as an owner" : ""}\n`);
    if (!done.hasOwner) await offerOwner(io, done, () => ownSender(io, values, done, true));
  },
});
