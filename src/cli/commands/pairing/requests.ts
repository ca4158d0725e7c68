import { AppError } from "../../../base/errors.ts";
import { formatDuration, shellWord } from "../../../base/text.ts";
import type { PairingRequest } from "../../../channels/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { PAIRING_OPTIONS, withPairing, chosen, ownSender, type Approved } from "./source.ts";
import { escapeLine } from "../../../base/printable.ts";

function print(io: Io, requests: readonly PairingRequest[]): void {
  if (requests.length === 0) return io.out("No pending requests\n");
  const rows = requests.map(({ code, channel, accountId, senderId, createdAt, meta }) => [
    code,
    channel,
    accountId,
    escapeLine(senderId),
    `${formatDuration(Math.max(0, io.now() - createdAt))} ago`,
    escapeLine(Object.values(meta).join(", ")) || "-",
  ]);
  io.out(formatTable(["Code", "Channel", "Account", "Sender", "Asked", "About"], rows, { style: createStyle(io.color), columns: io.columns }));
}

const timed = (requests: readonly PairingRequest[]) =>
  requests.map(({ senderId, createdAt, lastSeenAt, expiresAt, ...rest }) => ({
    id: senderId,
    ...rest,
    createdAt: new Date(createdAt).toISOString(),
    lastSeenAt: new Date(lastSeenAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }));

export const list = defineCommand({
  positionals: "[channel]",
  options: PAIRING_OPTIONS,
  examples: [
    { line: "openclaw pairing list telegram", does: "Pending requests and their codes" },
    { line: "openclaw pairing list --json", does: "All channels, as JSON" },
  ],
  async run({ io, values, positionals }) {
    const [named, extra] = positionals;
    if (extra !== undefined || (named !== undefined && values.channel !== undefined)) throw new AppError("INVALID_INPUT", "expected at most one channel");
    const channel = (named ?? values.channel)?.trim().toLowerCase();
    const requests = await withPairing(io, values, (source) =>
      source.list({ ...(channel === undefined ? {} : { channel }), ...(values.account === undefined ? {} : { accountId: values.account }) }),
    );
    if (values.json) printJson(io, { channel: channel ?? null, requests: timed(requests) });
    else print(io, requests);
  },
});

const OWNERS_MAY = "An owner can run every command in a chat: approve commands, change the configuration and relax how commands run.";

/** The first approved sender is usually the person who runs the gateway: offers to make them its owner. */
async function offerOwner(io: Io, { channel, senderId }: Approved, own: () => Promise<unknown>): Promise<void> {
  const who = `${channel}:${escapeLine(senderId)}`;
  if (io.interactive) {
    io.out(`This gateway has no owner yet. ${OWNERS_MAY}\nOnce there is one, other senders can only chat, unless commands.allowFrom lists them.\n`);
    if (await io.confirm(`Make ${who} the owner?`)) {
      await own();
      return io.out(`${who} is now the owner\n`);
    }
  }
  const word = shellWord(senderId);
  io.err(`This gateway has no owner${word === undefined ? "" : `. To make ${who} the owner, run:\n  openclaw pairing owner ${channel} ${word}`}\n`);
}

export const approve = defineCommand({
  positionals: "<channel> <code>",
  options: {
    ...PAIRING_OPTIONS,
    notify: { type: "boolean", help: "Notify the sender" },
    owner: { type: "boolean", help: "Also make the sender an owner, who can run every command" },
  },
  examples: [
    { line: "openclaw pairing approve telegram ABCD2345", does: "Approve the sender with this code" },
    { line: "openclaw pairing approve ABCD2345 --notify", does: "Find the channel by the code, and notify the sender" },
    { line: "openclaw pairing approve telegram ABCD2345 --owner", does: "Approve yourself as the owner" },
  ],
  async run({ io, values, positionals }) {
    const wanted = { notify: values.notify ?? false, owner: values.owner ?? false };
    const done = await withPairing(io, values, async (source) => source.approve(await chosen(source, positionals, values), wanted));
    if (values.notify && !done.notified) io.err("The sender was not notified: no gateway is running, or the channel could not send\n");
    if (values.json) return printJson(io, done);
    io.out(`Approved ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}${done.owner ? ", as an owner" : ""}\n`);
    if (!done.hasOwner) await offerOwner(io, done, () => ownSender(io, values, done, true));
  },
});

export const reject = defineCommand({
  positionals: "<channel> <code>",
  options: PAIRING_OPTIONS,
  examples: [{ line: "openclaw pairing reject telegram ABCD2345", does: "Reject the sender with this code" }],
  async run({ io, values, positionals }) {
    const done = await withPairing(io, values, async (source) => source.reject(await chosen(source, positionals, values)));
    if (values.json) printJson(io, done);
    else io.out(`Rejected ${JSON.stringify(done.senderId)} on ${done.channel}, account ${done.accountId}\n`);
  },
});
