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
  if (owners.length === 0) return io.out(io.runnable("No owner. Add one with: openclaw pairing owner <channel> <sender>\n"));
  for (const { path, entries } of owners) io.out(`${path}: ${entries.map(escapeLine).join(", ")}\n`);
}

export const owner = defineCommand({
  positionals: "[channel] [sender]",
  options: { ...PAIRING_OPTIONS, remove: { type: "boolean", help: "Remove this owner" } },
  examples: [
    { line: "openclaw pairing owner", does: "Show the owners" },
    { line: "openclaw pairing owner telegram 123456789", does: "Add an owner to commands.ownerAllowFrom" },
    { line: "openclaw pairing owner telegram 123456789 --remove", does: "Remove an owner" },
  ],
  async run({ io, values, positionals }) {
    const words = values.channel === undefined ? positionals : [values.channel, ...positionals];
    const [channel, senderId] = words;
    if (words.length > 2 || (channel !== undefined) !== (senderId !== undefined) || senderId?.trim() === "" || senderId === "*") {
      throw new AppError("INVALID_INPUT", "expected a channel and a sender id; /whoami in the chat shows it, and so does: openclaw pairing allowed");
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
    for (const { path } of lost) io.err(`The senders in ${path} were owners because no owner was set. Now only commands.ownerAllowFrom counts\n`);
  },
});

function printAllowed(io: Io, senders: readonly AllowedSender[]): void {
  if (senders.length === 0) return io.out("No allowed senders\n");
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
  examples: [{ line: "openclaw pairing allowed telegram", does: "Allowed senders and where they are allowed" }],
  async run({ io, values, positionals }) {
    const [named, extra] = positionals;
    if (extra !== undefined || (named !== undefined && values.channel !== undefined)) throw new AppError("INVALID_INPUT", "expected at most one channel");
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
  examples: [{ line: "openclaw pairing revoke telegram 123456789", does: "Revoke a sender's access" }],
  async run({ io, values, positionals }) {
    const words = values.channel === undefined ? positionals : [values.channel, ...positionals];
    const [channel, senderId] = words;
    if (channel === undefined || senderId === undefined || words.length > 2) {
      throw new AppError("INVALID_INPUT", "expected a channel and a sender id; see: openclaw pairing allowed");
    }
    const sender = { channel: channel.trim().toLowerCase(), senderId, ...(values.account === undefined ? {} : { accountId: values.account }) };
    const done = await withPairing(io, values, (source) => source.revoke(sender));
    if (values.json) return printJson(io, done);
    io.out(`Revoked ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}\n`);
    if (done.path !== undefined) io.err(`${done.path} in the configuration still allows this sender\n`);
  },
});
