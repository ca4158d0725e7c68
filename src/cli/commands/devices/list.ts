import { formatDuration } from "../../../base/text.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

type Devices = MethodResult<"device.pair.list">;

function print(io: Io, { pending, paired }: Devices): void {
  const style = createStyle(io.color);
  const ago = (ms: number): string => `${formatDuration(Math.max(0, io.now() - ms))} ago`;
  const table = (header: readonly string[], rows: readonly (readonly string[])[]): string => formatTable(header, rows, { style, columns: io.columns });
  const name = (device: { readonly displayName?: string; readonly clientId?: string; readonly platform?: string }): string =>
    [device.displayName ?? device.clientId, device.platform === "web" ? undefined : device.platform].filter(Boolean).join(", ") || "-";
  io.out(`${style.bold(`Waiting (${pending.length})`)}\n`);
  if (pending.length > 0) {
    const rows = pending.map((request) => [
      request.requestId,
      ago(request.ts),
      request.role ?? "-",
      request.remoteIp ?? "-",
      request.isRepair ? "again" : "new",
      name(request),
    ]);
    io.out(table(["Request", "Asked", "Role", "From", "Kind", "Device"], rows));
  }
  io.out(`${style.bold(`In (${paired.length})`)}\n`);
  if (paired.length === 0) return;
  const rows = paired.map((device) => {
    const roles = (device.tokens ?? []).map((token) => `${token.role}${token.revokedAtMs === undefined ? "" : " (revoked)"}`);
    return [device.deviceId, ago(device.approvedAtMs), roles.join(", ") || (device.roles ?? []).join(", ") || "-", name(device)];
  });
  io.out(table(["Device", "Since", "Roles", "Name"], rows));
}

export const list = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices list --json", does: "for machines" }],
  async run({ io, values }) {
    const found = await callGateway(io, "device.pair.list", {}, values);
    if (values.json) printJson(io, found);
    else print(io, found);
  },
});
