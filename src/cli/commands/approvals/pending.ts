import { formatDuration } from "../../../base/text.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { escapeLine } from "../../../base/printable.ts";

type Open = MethodResult<"exec.approval.list">["approvals"];

const shown = escapeLine;

function print(io: Io, approvals: Open): void {
  if (approvals.length === 0) return io.out("nothing waits for an answer\n");
  const rows = approvals.map(({ id, kind, request, expiresAtMs }) => [
    id,
    kind,
    request.sessionKey ?? "-",
    formatDuration(Math.max(0, expiresAtMs - io.now())),
    shown(request.cwd ?? "-"),
    shown(request.command),
    shown(request.always ?? "-"),
  ]);
  io.out(formatTable(["Id", "Kind", "Session", "Left", "Folder", "Asks to run", "Always"], rows, { style: createStyle(io.color), columns: io.columns }));
}

export const pending = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw approvals pending --json", does: "for machines" }],
  async run({ io, values }) {
    const found = await callGateway(io, "exec.approval.list", {}, values);
    if (values.json) printJson(io, found);
    else print(io, found.approvals);
  },
});
