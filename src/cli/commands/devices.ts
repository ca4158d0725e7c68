import { formatDuration } from "../../base/text.ts";
import { type MethodResult, type GatewayClient, loadNodeClient } from "../../protocol/index.ts";
import { defineCommand } from "../command.ts";
import { callGateway, GATEWAY_OPTIONS, withGateway } from "../gateway-call.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { formatTable } from "../output/table.ts";
import { AppError } from "../../base/errors.ts";

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

async function newestRequest(client: GatewayClient): Promise<string> {
  const { pending } = await client.request("device.pair.list", {});
  const newest = pending.toSorted((a, b) => b.ts - a.ts)[0];
  if (newest) return newest.requestId;
  throw new AppError("NOT_FOUND", "no device waits to be let in; requests are forgotten after 5 minutes, so let it ask again");
}

export const approve = defineCommand({
  positionals: "[requestId]",
  options: { latest: { type: "boolean", help: "the newest request (also without a request id)" }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw devices approve --latest", does: "let the newest one in" },
    { line: "openclaw devices approve REQUEST_ID", does: "let a certain one in" },
  ],
  async run({ io, values, positionals }) {
    const [named, extra] = positionals;
    if (extra !== undefined || (named !== undefined && values.latest)) throw new AppError("INVALID_INPUT", "expected one request id, or --latest");
    const done = await withGateway(io, values, async (client) => client.request("device.pair.approve", { requestId: named ?? (await newestRequest(client)) }));
    if (values.json) printJson(io, done);
    else io.out(`let in: ${done.device.deviceId}${done.device.displayName === undefined ? "" : ` (${done.device.displayName})`}\n`);
  },
});

export const reject = defineCommand({
  positionals: "<requestId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices reject REQUEST_ID", does: "turn it away" }],
  async run({ io, values, positionals }) {
    const [requestId, extra] = positionals;
    if (requestId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one request id; see: openclaw devices list");
    const done = await callGateway(io, "device.pair.reject", { requestId }, values);
    if (values.json) printJson(io, done);
    else io.out(`turned away: ${done.deviceId}\n`);
  },
});

export const remove = defineCommand({
  positionals: "<deviceId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices remove DEVICE_ID", does: "forget it; its connections are closed" }],
  async run({ io, values, positionals }) {
    const [deviceId, extra] = positionals;
    if (deviceId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one device id; see: openclaw devices list");
    const done = await callGateway(io, "device.pair.remove", { deviceId }, values);
    if (values.json) printJson(io, done);
    else io.out(`forgot ${done.deviceId}\n`);
  },
});

const TOKEN_OPTIONS = {
  device: { type: "string", value: "id", help: "the device (see: openclaw devices list)" },
  role: { type: "string", value: "role", help: "operator or node" },
} as const;

/** Whose token is meant. */
function tokenTarget({ device, role }: { readonly device?: string | undefined; readonly role?: string | undefined }): {
  deviceId: string;
  role: string;
} {
  if (!device || !role) throw new AppError("INVALID_INPUT", `expected --device <id> and --role <role>, got ${device ? "no role" : "no device"}`);
  return { deviceId: device, role };
}

export const rotate = defineCommand({
  options: {
    ...TOKEN_OPTIONS,
    scope: { type: "string", multiple: true, value: "scope", help: "what the token may do (default: as before)" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw devices rotate --device DEVICE_ID --role operator", does: "a new token; the old one ends" }],
  async run({ io, values }) {
    const done = await callGateway(io, "device.token.rotate", { ...tokenTarget(values), ...(values.scope ? { scopes: values.scope } : {}) }, values);
    if (values.json) return printJson(io, done);
    io.err(`new token of ${done.deviceId} as ${done.role}, for ${done.scopes.join(", ") || "nothing"}; it is shown once:\n`);
    io.out(`${done.token}\n`);
  },
});

export const revoke = defineCommand({
  options: { ...TOKEN_OPTIONS, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw devices revoke --device DEVICE_ID --role operator", does: "its token and its connections end" }],
  async run({ io, values }) {
    const done = await callGateway(io, "device.token.revoke", tokenTarget(values), values);
    if (values.json) printJson(io, done);
    else io.out(`revoked the token of ${done.deviceId} as ${done.role}\n`);
  },
});

export const clear = defineCommand({
  options: {
    pending: { type: "boolean", help: "turn away those that wait, too" },
    yes: { type: "boolean", short: "y", help: "agree without being asked" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw devices clear --pending --yes", does: "forget all others, and turn away those that wait" }],
  async run({ io, values }) {
    if (!values.yes && !io.interactive) throw new AppError("INVALID_INPUT", "this forgets every device but this machine's: give --yes to agree");
    if (!values.yes && !(await io.confirm("Forget every device but this machine's?"))) {
      io.err("nothing was changed\n");
      return;
    }
    const done = await withGateway(io, values, async (client, { stateDir }) => {
      const { loadDeviceFile } = await loadNodeClient();
      const own = loadDeviceFile(stateDir, io.now()).id;
      const { pending, paired } = await client.request("device.pair.list", {});
      const removed = paired.map(({ deviceId }) => deviceId).filter((deviceId) => deviceId !== own);
      const rejected = values.pending ? pending.map(({ requestId }) => requestId) : [];
      for (const requestId of rejected) await client.request("device.pair.reject", { requestId });
      for (const deviceId of removed) await client.request("device.pair.remove", { deviceId });
      return { removed, rejected };
    });
    if (values.json) printJson(io, { ok: true, ...done });
    else io.out(`forgot ${done.removed.length} devices${values.pending ? `, turned away ${done.rejected.length}` : ""}\n`);
  },
});
