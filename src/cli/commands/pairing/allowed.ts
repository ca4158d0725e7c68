import { AppError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/text.ts";
import type { AllowedSender } from "../../../channels/index.ts";
import { defineCommand } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { printable } from "../plugins/record.ts";
import { PAIRING_OPTIONS, withPairing } from "./source.ts";

function print(io: Io, senders: readonly AllowedSender[]): void {
  if (senders.length === 0) return io.out("nobody was let in, and the configuration names nobody\n");
  const rows = senders.map(({ channel, accountId, senderId, source, addedAt, path }) => [
    channel,
    accountId,
    senderId === "*" ? "everybody" : printable(senderId),
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
    else print(io, senders);
  },
});
