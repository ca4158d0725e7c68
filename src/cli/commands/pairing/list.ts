import { AppError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/text.ts";
import type { PairingRequest } from "../../../channels/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { PAIRING_OPTIONS, withPairing } from "./source.ts";
import { escapeLine } from "../../../base/printable.ts";

const shown = escapeLine;

function print(io: Io, requests: readonly PairingRequest[]): void {
  if (requests.length === 0) return io.out("nobody waits\n");
  const rows = requests.map(({ code, channel, accountId, senderId, createdAt, meta }) => [
    code,
    channel,
    accountId,
    shown(senderId),
    `${formatDuration(Math.max(0, io.now() - createdAt))} ago`,
    shown(Object.values(meta).join(", ")) || "-",
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
