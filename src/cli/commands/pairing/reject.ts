import { defineCommand } from "../../command.ts";
import { printJson } from "../../io.ts";
import { chosen, PAIRING_OPTIONS, withPairing } from "./source.ts";

export const reject = defineCommand({
  positionals: "<channel> <code>",
  options: PAIRING_OPTIONS,
  examples: [{ line: "openclaw pairing reject telegram ABCD2345", does: "turn away who was given this code" }],
  async run({ io, values, positionals }) {
    const done = await withPairing(io, values, async (source) => source.reject(await chosen(source, positionals, values)));
    if (values.json) printJson(io, done);
    else io.out(`turned away: ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}\n`);
  },
});
