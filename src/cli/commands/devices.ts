import { formatDuration } from "../../base/text.ts";
import { type MethodResult, type GatewayClient, loadNodeClient } from "../../protocol/index.ts";
import { defineCommand } from "../command.ts";
import { callGateway, GATEWAY_OPTIONS, withGateway } from "../gateway-call.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { formatTable } from "../output/table.ts";
import { AppError } from "../../base/errors.ts";

type Devices = MethodResult<"device.pair.list">;

/** A device's id in a table, as long as no other one begins so. */
const SHORT = 12;

function shortIds(ids: readonly string[]): (id: string) => string {
  return (id) => (ids.some((other) => other !== id && other.startsWith(id.slice(0, SHORT))) ? id : id.slice(0, SHORT));
}

/** The whole id of a paired device: it may be given by the beginning that the table shows. What is not known is left to the gateway. */
async function wholeId(client: GatewayClient, written: string): Promise<string> {
  if (written.length < SHORT) return written;
  const { paired } = await client.request("device.pair.list", {});
  const ids = paired.map(({ deviceId }) => deviceId);
  if (ids.includes(written)) return written;
  const meant = ids.filter((id) => id.startsWith(written));
  if (meant.length > 1)
    throw new AppError("INVALID_INPUT", `${written} is the beginning of ${meant.length} device ids; give the whole id: ${meant.join(", ")}`);
  return meant[0] ?? written;
}

function print(io: Io, { pending, paired }: Devices): void {
  const style = createStyle(io.color);
  const ago = (ms: number): string => `${formatDuration(Math.max(0, io.now() - ms))} ago`;
  const table = (header: readonly string[], rows: readonly (readonly string[])[]): string => formatTable(header, rows, { style, columns: io.columns });
  const name = (device: { readonly displayName?: string; readonly clientId?: string; readonly platform?: string }): string =>
    [device.displayName ?? device.clientId, device.platform === "web" ? undefined : device.platform].filter(Boolean).join(", ") || "-";
  io.out(`${style.bold(`Pending (${pending.length})`)}\n`);
  if (pending.length > 0) {
    const rows = pending.map((request) => [
      name(request),
      request.requestId,
      ago(request.ts),
      request.role ?? "-",
      request.remoteIp ?? "-",
      request.isRepair ? "again" : "new",
    ]);
    io.out(table(["Name", "Request", "Asked", "Role", "From", "Kind"], rows));
  }
  io.out(`${style.bold(`Paired (${paired.length})`)}\n`);
  if (paired.length === 0) return;
  const short = shortIds(paired.map(({ deviceId }) => deviceId));
  const rows = paired.map((device) => {
    const roles = (device.tokens ?? []).map((token) => `${token.role}${token.revokedAtMs === undefined ? "" : " (revoked)"}`);
    return [name(device), short(device.deviceId), ago(device.approvedAtMs), roles.join(", ") || (device.roles ?? []).join(", ") || "-"];
  });
  io.out(table(["Name", "Device", "Since", "Roles"], rows));
}

export const list = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices list --json", does: "Print JSON" }],
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
  throw new AppError("NOT_FOUND", "no pending requests; they expire after 5 minutes, so connect from the device again");
}

export const approve = defineCommand({
  positionals: "[requestId]",
  options: { latest: { type: "boolean", help: "Approve the newest request (default without a request id)" }, ...GATEWAY_OPTIONS },
  examples: [
    { line: "openclaw devices approve --latest", does: "Approve the newest request" },
    { line: "openclaw devices approve REQUEST_ID", does: "Approve a specific request" },
  ],
  async run({ io, values, positionals }) {
    const [named, extra] = positionals;
    if (extra !== undefined || (named !== undefined && values.latest)) throw new AppError("INVALID_INPUT", "expected one request id, or --latest");
    const done = await withGateway(io, values, async (client) => client.request("device.pair.approve", { requestId: named ?? (await newestRequest(client)) }));
    if (values.json) printJson(io, done);
    else io.out(`Approved ${done.device.deviceId}${done.device.displayName === undefined ? "" : ` (${done.device.displayName})`}\n`);
  },
});

export const reject = defineCommand({
  positionals: "<requestId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices reject REQUEST_ID", does: "Reject a request" }],
  async run({ io, values, positionals }) {
    const [requestId, extra] = positionals;
    if (requestId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one request id; see: openclaw devices list");
    const done = await callGateway(io, "device.pair.reject", { requestId }, values);
    if (values.json) printJson(io, done);
    else io.out(`Rejected ${done.deviceId}\n`);
  },
});

export const remove = defineCommand({
  positionals: "<deviceId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw devices remove DEVICE_ID", does: "Remove a device and close its connections" }],
  async run({ io, values, positionals }) {
    const [deviceId, extra] = positionals;
    if (deviceId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one device id; see: openclaw devices list");
    const done = await withGateway(io, values, async (client) => client.request("device.pair.remove", { deviceId: await wholeId(client, deviceId) }));
    if (values.json) printJson(io, done);
    else io.out(`Removed ${done.deviceId}\n`);
  },
});

const TOKEN_OPTIONS = {
  device: { type: "string", value: "id", help: "Device id (see: openclaw devices list)" },
  role: { type: "string", value: "role", help: "Role: operator or node" },
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
    scope: { type: "string", multiple: true, value: "scope", help: "Scope of the token (default: unchanged); repeatable" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw devices rotate --device DEVICE_ID --role operator", does: "Issue a new token; the old one stops working" }],
  async run({ io, values }) {
    const { deviceId, role } = tokenTarget(values);
    const scopes = values.scope ? { scopes: values.scope } : {};
    const done = await withGateway(io, values, async (client) =>
      client.request("device.token.rotate", { deviceId: await wholeId(client, deviceId), role, ...scopes }),
    );
    if (values.json) return printJson(io, done);
    io.err(`New token for ${done.deviceId} (role ${done.role}, scopes ${done.scopes.join(", ") || "none"}). It is shown only once:\n`);
    io.out(`${done.token}\n`);
  },
});

export const revoke = defineCommand({
  options: { ...TOKEN_OPTIONS, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw devices revoke --device DEVICE_ID --role operator", does: "Revoke the token and close its connections" }],
  async run({ io, values }) {
    const { deviceId, role } = tokenTarget(values);
    const done = await withGateway(io, values, async (client) => client.request("device.token.revoke", { deviceId: await wholeId(client, deviceId), role }));
    if (values.json) printJson(io, done);
    else io.out(`Revoked the ${done.role} token of ${done.deviceId}\n`);
  },
});

export const clear = defineCommand({
  options: {
    pending: { type: "boolean", help: "Also reject pending requests" },
    yes: { type: "boolean", short: "y", help: "Don't ask for confirmation" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: "openclaw devices clear --pending --yes", does: "Remove all other devices and reject pending requests" }],
  async run({ io, values }) {
    if (!values.yes && !io.interactive) throw new AppError("INVALID_INPUT", "this removes every device except this machine; use --yes to confirm");
    if (!values.yes && !(await io.confirm("Remove every device except this machine?"))) {
      io.err("No changes made\n");
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
    else io.out(`Removed ${done.removed.length} devices${values.pending ? `, rejected ${done.rejected.length} requests` : ""}\n`);
  },
});
