import { AppError } from "../../../base/errors.ts";
import { printableName } from "../../../base/printable.ts";
import { formatDuration } from "../../../base/text.ts";
import { findNode, nodeName, type NodeEntry } from "../../../nodes/index.ts";
import type { GatewayClient, MethodResult } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS, withGateway } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";

export const NODE_OPTION = { type: "string", value: "node", help: "Node id, name or address" } as const;

/** The node that `--node` means. */
export async function nodeFor(client: GatewayClient, wanted: string | undefined): Promise<NodeEntry> {
  if (wanted === undefined || wanted.trim() === "") throw new AppError("INVALID_INPUT", "expected --node <id, name or address>; see: openclaw nodes status");
  return findNode(wanted, (await client.request("node.list", {})).nodes);
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(text: string): number {
  const [, amount, unit = "m"] = /^(\d+)\s*([smhd])?$/.exec(text.trim().toLowerCase()) ?? [];
  if (amount === undefined) throw new AppError("INVALID_INPUT", `--last-connected takes a time such as 30m, 2h or 1d, not "${text}"`);
  return Number(amount) * (UNITS[unit] ?? 60_000);
}

interface Filter {
  readonly connected?: boolean | undefined;
  readonly "last-connected"?: string | undefined;
}

function filtered(io: Io, nodes: readonly NodeEntry[], filter: Filter): readonly NodeEntry[] {
  const since = filter["last-connected"] === undefined ? undefined : io.now() - durationOf(filter["last-connected"]);
  const isSince = ({ connected, lastSeenAtMs }: NodeEntry): boolean => since === undefined || connected || (lastSeenAtMs ?? 0) >= since;
  return nodes.filter((node) => (!filter.connected || node.connected) && isSince(node));
}

/** For how long it has been connected, or when it last was. */
function connectedText(io: Io, { connectedAtMs, lastSeenAtMs }: NodeEntry): string {
  if (connectedAtMs !== undefined) return formatDuration(Math.max(0, io.now() - connectedAtMs));
  return lastSeenAtMs === undefined ? "-" : `${formatDuration(Math.max(0, io.now() - lastSeenAtMs))} ago`;
}

function stateText(io: Io, { connected, lastSeenAtMs }: NodeEntry): string {
  if (connected) return "connected";
  return lastSeenAtMs === undefined
    ? "offline"
    : `offline since ${new Date(lastSeenAtMs).toISOString()} (${formatDuration(Math.max(0, io.now() - lastSeenAtMs))})`;
}

function printNodes(io: Io, nodes: readonly NodeEntry[]): void {
  if (nodes.length === 0) return io.out("No nodes\n");
  const style = createStyle(io.color);
  const rows = nodes.map((node) => [
    nodeName(node),
    node.connected ? style.green("connected") : "offline",
    connectedText(io, node),
    node.platform ?? "-",
    node.version ?? "-",
    node.remoteIp ?? "-",
    node.nodeId.slice(0, 12),
    node.commands.join(" ") || "-",
  ]);
  io.out(formatTable(["Name", "State", "Connected", "Platform", "Version", "Address", "Id", "Commands"], rows, { style, columns: io.columns }));
}

const FILTERS = {
  connected: { type: "boolean", help: "Only connected nodes" },
  "last-connected": { type: "string", value: "time", help: "Only nodes connected within this time, such as 24h" },
} as const;

export const status = defineCommand({
  options: { ...FILTERS, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw nodes status --json", does: "Print JSON" }],
  async run({ io, values }) {
    const found = await callGateway(io, "node.list", {}, values);
    const nodes = filtered(io, found.nodes, values);
    if (values.json) printJson(io, { ts: found.ts, nodes });
    else printNodes(io, nodes);
  },
});

type DeviceRequest = MethodResult<"device.pair.list">["pending"][number];
type NodeRequest = MethodResult<"node.pair.list">["pending"][number];

/** Requests to pair nodes: devices that ask to connect as a node, and those that are kept apart from devices. */
async function requests(client: GatewayClient): Promise<{ readonly devices: readonly DeviceRequest[]; readonly nodes: readonly NodeRequest[] }> {
  const [devices, nodes] = [await client.request("device.pair.list", {}), await client.request("node.pair.list", {})];
  return { devices: devices.pending.filter(({ role }) => role === "node"), nodes: nodes.pending };
}

function printPending(io: Io, pending: readonly (DeviceRequest | NodeRequest)[]): void {
  if (pending.length === 0) return io.out("No pending requests\n");
  const rows = pending.map((request) => [
    request.requestId,
    `${formatDuration(Math.max(0, io.now() - request.ts))} ago`,
    request.displayName ?? "-",
    request.platform ?? "-",
    request.remoteIp ?? "-",
  ]);
  io.out(formatTable(["Request", "Asked", "Name", "Platform", "Address"], rows, { style: createStyle(io.color), columns: io.columns }));
}

export const list = defineCommand({
  options: { ...FILTERS, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw nodes list", does: "List pending requests and paired nodes" }],
  async run({ io, values }) {
    const { pending, nodes } = await withGateway(io, values, async (client) => {
      const asked = await requests(client);
      return { pending: [...asked.devices, ...asked.nodes], nodes: (await client.request("node.list", {})).nodes };
    });
    const paired = filtered(io, nodes, values);
    if (values.json) return printJson(io, { pending, paired });
    const style = createStyle(io.color);
    io.out(`${style.bold(`Pending (${pending.length})`)}\n`);
    if (pending.length > 0) printPending(io, pending);
    io.out(`${style.bold(`Paired (${paired.length})`)}\n`);
    if (paired.length > 0) printNodes(io, paired);
  },
});

export const pending = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw nodes pending", does: "List pending nodes" }],
  async run({ io, values }) {
    const asked = await withGateway(io, values, requests);
    const all = [...asked.devices, ...asked.nodes];
    if (values.json) printJson(io, all);
    else printPending(io, all);
  },
});

function requestIdOf(positionals: readonly string[]): string {
  const [requestId, extra] = positionals;
  if (requestId === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one request id; see: openclaw nodes pending");
  return requestId;
}

export const approve = defineCommand({
  positionals: "<requestId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw nodes approve REQUEST_ID", does: "Approve a node" }],
  async run({ io, values, positionals }) {
    const requestId = requestIdOf(positionals);
    const done = await withGateway(io, values, async (client) => {
      const isDevice = (await requests(client)).devices.some((request) => request.requestId === requestId);
      if (!isDevice) return client.request("node.pair.approve", { requestId });
      const { device } = await client.request("device.pair.approve", { requestId });
      return { requestId, node: { nodeId: device.deviceId, ...(device.displayName === undefined ? {} : { displayName: device.displayName }) } };
    });
    if (values.json) printJson(io, done);
    else io.out(`Approved ${nodeName(done.node)}\n`);
  },
});

export const reject = defineCommand({
  positionals: "<requestId>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw nodes reject REQUEST_ID", does: "Reject a node" }],
  async run({ io, values, positionals }) {
    const requestId = requestIdOf(positionals);
    const done = await withGateway(io, values, async (client) => {
      const isDevice = (await requests(client)).devices.some((request) => request.requestId === requestId);
      if (!isDevice) return client.request("node.pair.reject", { requestId });
      const { deviceId } = await client.request("device.pair.reject", { requestId });
      return { requestId, nodeId: deviceId };
    });
    if (values.json) printJson(io, done);
    else io.out(`Rejected ${done.nodeId}\n`);
  },
});

export const describe = defineCommand({
  options: { node: NODE_OPTION, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw nodes describe --node kitchen", does: "Show what a node is and can do" }],
  async run({ io, values }) {
    const found = await withGateway(io, values, async (client) => client.request("node.describe", { nodeId: (await nodeFor(client, values.node)).nodeId }));
    if (values.json) return printJson(io, found);
    const lines: readonly (readonly [string, string | undefined])[] = [
      ["Name", found.displayName],
      ["Id", found.nodeId],
      ["State", stateText(io, found)],
      ["Platform", found.platform],
      ["Version", found.version],
      ["Address", found.remoteIp],
      ["Capabilities", found.caps.join(", ")],
      ["Commands", found.commands.join(", ")],
    ];
    for (const [name, value] of lines) io.out(`${name.padEnd(13)} ${value || "-"}\n`);
    const missing = Object.entries(found.permissions ?? {}).flatMap(([name, isGranted]) => (isGranted ? [] : [printableName(name)]));
    if (missing.length > 0) io.out(`Not available ${missing.join(", ")} (the command "node status" on that machine says why)\n`);
  },
});

export const rename = defineCommand({
  options: { node: NODE_OPTION, name: { type: "string", value: "text", help: "New name" }, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw nodes rename --node kitchen --name Office", does: "Rename a node" }],
  async run({ io, values }) {
    const displayName = values.name?.trim() ?? "";
    if (displayName === "") throw new AppError("INVALID_INPUT", "expected --name <text>");
    const done = await withGateway(io, values, async (client) =>
      client.request("node.rename", { nodeId: (await nodeFor(client, values.node)).nodeId, displayName }),
    );
    if (values.json) printJson(io, done);
    else io.out(`Renamed to ${done.displayName}\n`);
  },
});
