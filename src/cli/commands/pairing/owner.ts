import { AppError } from "../../../base/errors.ts";
import { namedOwners, type NamedOwners } from "../../../channels/index.ts";
import { defineCommand } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { printable } from "../plugins/record.ts";
import { ownSender, PAIRING_OPTIONS } from "./source.ts";

function print(io: Io, owners: readonly NamedOwners[]): void {
  if (owners.length === 0) return io.out(io.runnable("nobody is the owner; to name one: openclaw pairing owner <channel> <sender>\n"));
  for (const { path, entries } of owners) io.out(`${path}: ${entries.map(printable).join(", ")}\n`);
}

export const owner = defineCommand({
  positionals: "[channel] [sender]",
  options: { ...PAIRING_OPTIONS, remove: { type: "boolean", help: "they are no owner any more" } },
  examples: [
    { line: "openclaw pairing owner", does: "who is the owner, and which key says so" },
    { line: "openclaw pairing owner telegram 123456789", does: "name a sender in commands.ownerAllowFrom" },
    { line: "openclaw pairing owner telegram 123456789 --remove", does: "take them out again" },
  ],
  async run({ io, values, positionals }) {
    const words = values.channel === undefined ? positionals : [values.channel, ...positionals];
    const [channel, senderId] = words;
    if (words.length > 2 || (channel !== undefined) !== (senderId !== undefined) || senderId?.trim() === "" || senderId === "*") {
      throw new AppError("INVALID_INPUT", "expected a channel and the id of one sender; /whoami in the chat shows it, or: openclaw pairing allowed");
    }
    if (channel === undefined || senderId === undefined) {
      if (values.remove) throw new AppError("INVALID_INPUT", "--remove needs a channel and the id of a sender");
      const owners = namedOwners(loadFor(io).snapshot.config);
      return values.json ? printJson(io, { owners }) : print(io, owners);
    }
    const sender = { channel: channel.trim().toLowerCase(), senderId: senderId.trim() };
    const before = namedOwners(loadFor(io).snapshot.config);
    const owners = await ownSender(io, values, sender, !values.remove);
    if (values.json) return printJson(io, { owners });
    print(io, owners);
    const lost = before.filter(({ path }) => path !== "commands.ownerAllowFrom" && !owners.some((now) => now.path === path));
    for (const { path } of lost) io.err(`those whom ${path} names were owners because nobody was named as one; now only commands.ownerAllowFrom counts\n`);
  },
});
