import { defineCommand } from "../../command.ts";
import { printJson } from "../../io.ts";
import { chosen, PAIRING_OPTIONS, withPairing } from "./source.ts";

export const approve = defineCommand({
  positionals: "<channel> <code>",
  options: { ...PAIRING_OPTIONS, notify: { type: "boolean", help: "tell the sender" } },
  examples: [
    { line: "openclaw pairing approve telegram ABCD2345", does: "let in who was given this code" },
    { line: "openclaw pairing approve ABCD2345 --notify", does: "the same on whichever channel, and tell them" },
  ],
  async run({ io, values, positionals }) {
    const done = await withPairing(io, values, async (source) => source.approve(await chosen(source, positionals, values), values.notify ?? false));
    if (values.notify && !done.notified) io.err("the sender was not told: no gateway runs, or the channel could not\n");
    if (values.json) printJson(io, done);
    else io.out(`let in: ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}\n`);
  },
});
