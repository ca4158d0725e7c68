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
  if (requests.length === 0) return io.out("nobody waits\n");
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
    { line: "openclaw pairing list telegram", does: "who waits there, with their codes" },
    { line: "openclaw pairing list --json", does: "on all channels, for machines" },
  ],
  async run({ io, values, positionals }) {
    const [named, extra] = positionals;
    if (extra !== undefined || (named !== undefined && values.channel !== undefined)) throw new AppError("INVALID_INPUT", "expected one channel, or none");
    const channel = (named ?? values.channel)?.trim().toLowerCase();
    const requests = await withPairing(io, values, (source) =>
      source.list({ ...(channel === undefined ? {} : { channel }), ...(values.account === undefined ? {} : { accountId: values.account }) }),
    );
    if (values.json) printJson(io, { channel: channel ?? null, requests: timed(requests) });
    else print(io, requests);
  },
});

const OWNERS_MAY = "An owner may loosen how commands run, decide about approvals and change the configuration from a chat.";

/** The first approved sender is usually the person who runs the gateway: offers to make them its owner. */
async function offerOwner(io: Io, { channel, senderId }: Approved, own: () => Promise<unknown>): Promise<void> {
  const who = `${channel}:${escapeLine(senderId)}`;
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
