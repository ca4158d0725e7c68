import { escapeLine } from "../../../base/printable.ts";
import { AppError } from "../../../base/errors.ts";
import { namedOwners, type NamedOwners, type AllowedSender } from "../../../channels/index.ts";
import { defineCommand } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { ownSender, PAIRING_OPTIONS, withPairing } from "./source.ts";
import { formatDuration } from "../../../base/text.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

function printOwners(io: Io, owners: readonly NamedOwners[]): void {
  if (owners.length === 0) return io.out(io.runnable("nobody is the owner; to name one: openclaw pairing owner <channel> <sender>\n"));
  for (const { path, entries } of owners) io.out(`${path}: ${entries.map(escapeLine).join(", ")}\n`);
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
      return values.json ? printJson(io, { owners }) : printOwners(io, owners);
    }
    const sender = { channel: channel.trim().toLowerCase(), senderId: senderId.trim() };
    const before = namedOwners(loadFor(io).snapshot.config);
    const owners = await ownSender(io, values, sender, !values.remove);
    if (values.json) return printJson(io, { owners });
    printOwners(io, owners);
    const lost = before.filter(({ path }) => path !== "commands.ownerAllowFrom" && !owners.some((now) => now.path === path));
    for (const { path } of lost) io.err(`those whom ${path} names were owners because nobody was named as one; now only commands.ownerAllowFrom counts\n`);
  },
});

function printAllowed(io: Io, senders: readonly AllowedSender[]): void {
  if (senders.length === 0) return io.out("nobody was let in, and the configuration names nobody\n");
  const rows = senders.map(({ channel, accountId, senderId, source, addedAt, path }) => [
    channel,
    accountId,
    senderId === "*" ? "everybody" : escapeLine(senderId),
    path ?? source,
    addedAt === undefined ? "-" : `${formatDuration(Math.max(0, io.now() - addedAt))} ago`,
  ]);
  io.out(formatTable(["Channel", "Account", "Sender", "By", "Since"], rows, { style: createStyle(io.color), columns: io.columns }));
}

export const allowed = defineCommand({
  positionals: "[channel]",
  options: PAIRING_OPTIONS,
  examples: [{ line: "openclaw pairing allowed telegram", does: "who may write there, and who says so" }],
  async run({ io, values, positionals }) {
    const [named, extra] = positionals;
    if (extra !== undefined || (named !== undefined && values.channel !== undefined)) throw new AppError("INVALID_INPUT", "expected one channel, or none");
    const channel = (named ?? values.channel)?.trim().toLowerCase();
    const filter = { ...(channel === undefined ? {} : { channel }), ...(values.account === undefined ? {} : { accountId: values.account }) };
    const senders = await withPairing(io, values, (source) => source.allowed(filter));
    const timed = senders.map(({ senderId, addedAt, ...rest }) => ({
      id: senderId,
      ...rest,
      ...(addedAt === undefined ? {} : { addedAt: new Date(addedAt).toISOString() }),
    }));
    if (values.json) printJson(io, { channel: channel ?? null, senders: timed });
    else printAllowed(io, senders);
  },
});

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
