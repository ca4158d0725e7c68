import { AppError } from "../../../base/errors.ts";
import { defineCommand } from "../../command.ts";
import { printJson } from "../../io.ts";
import { PAIRING_OPTIONS, withPairing } from "./source.ts";

export const revoke = defineCommand({
  positionals: "<channel> <sender>",
  options: PAIRING_OPTIONS,
  examples: [{ line: "openclaw pairing revoke telegram 123456789", does: "they are a stranger again, from the next message on" }],
  async run({ io, values, positionals }) {
    const words = values.channel === undefined ? positionals : [values.channel, ...positionals];
    const [channel, senderId] = words;
    if (channel === undefined || senderId === undefined || words.length > 2) {
      throw new AppError("INVALID_INPUT", "expected a channel and the id of a sender; see: openclaw pairing allowed");
    }
    const sender = { channel: channel.trim().toLowerCase(), senderId, ...(values.account === undefined ? {} : { accountId: values.account }) };
    const done = await withPairing(io, values, (source) => source.revoke(sender));
    if (values.json) return printJson(io, done);
    io.out(`not let in any more: ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}\n`);
    if (done.path !== undefined) io.err(`${done.path} in the configuration lets them in all the same\n`);
  },
});
