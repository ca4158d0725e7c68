import { formatDuration } from "../../../base/text.ts";
import type { MethodResult, GatewayClient } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { callGateway, GATEWAY_OPTIONS, withGateway, connectTo, timeoutOf, type GatewayFlags } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { escapeLine } from "../../../base/printable.ts";
import { AppError } from "../../../base/errors.ts";
import { existsSync } from "node:fs";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { systemRandom } from "../../../base/random.ts";
import { findTarget } from "../../gateway-target.ts";

type Open = MethodResult<"exec.approval.list">["approvals"];

function printPending(io: Io, approvals: Open): void {
  if (approvals.length === 0) return io.out("No pending approvals\n");
  const rows = approvals.map(({ id, kind, request, expiresAtMs }) => [
    id,
    request.nodeId ? `${kind} on node ${escapeLine(request.nodeId.slice(0, 12))}` : kind,
    request.sessionKey ?? "-",
    formatDuration(Math.max(0, expiresAtMs - io.now())),
    escapeLine(request.cwd ?? "-"),
    escapeLine(request.command),
    escapeLine(request.always ?? "-"),
  ]);
  io.out(formatTable(["Id", "Kind", "Session", "Left", "Folder", "Command", "Always"], rows, { style: createStyle(io.color), columns: io.columns }));
}

export const pending = defineCommand({
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw approvals pending --json", does: "Print JSON" }],
  async run({ io, values }) {
    const found = await callGateway(io, "exec.approval.list", {}, values);
    if (values.json) printJson(io, found);
    else printPending(io, found.approvals);
  },
});

const DECISIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "allow-once": "allow-once",
    allow: "allow-once",
    once: "allow-once",
    "allow-always": "allow-always",
    always: "allow-always",
    deny: "deny",
    reject: "deny",
    block: "deny",
  }),
);

/** The question that an id, or the beginning of one as sessions show it, means. */
async function meant(client: GatewayClient, prefix: string): Promise<string> {
  const { approvals } = await client.request("exec.approval.list", {});
  const found = approvals.filter(({ id }) => id === prefix || id.startsWith(prefix));
  const [one] = found.filter(({ id }) => id === prefix).concat(found);
  if (one && (one.id === prefix || found.length === 1)) return one.id;
  const why =
    found.length > 1
      ? `${found.length} approvals start with it; use more characters`
      : "it is unknown, already decided or expired; list them with: openclaw approvals pending";
  throw new AppError("NOT_FOUND", `${JSON.stringify(prefix)} matches no pending approval: ${why}`);
}

export const resolve = defineCommand({
  positionals: "<id> <allow-once | allow-always | deny>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw approvals resolve APPROVAL_ID allow-once", does: "Allow a command once; the first eight characters of the id are enough" }],
  async run({ io, values, positionals }) {
    const [prefix, word, extra] = positionals;
    const decision = DECISIONS.get(word ?? "");
    if (prefix === undefined || decision === undefined || extra !== undefined)
      throw new AppError("INVALID_INPUT", "expected an id and allow-once, allow-always or deny, such as: openclaw approvals resolve 25e15b1e allow-once");
    const id = await withGateway(io, values, async (client) => {
      const found = await meant(client, prefix);
      await client.request("exec.approval.resolve", { id: found, decision });
      return found;
    });
    if (values.json) printJson(io, { ok: true, id, decision });
    else io.out(`${decision}: ${id}\n`);
  },
});

type Remembered = MethodResult<"exec.approvals.remembered">["commands"][number];

/** What was allowed for good: over the gateway, or in the state folder itself while no gateway runs. */
interface Source {
  list(agentId: string | undefined): Promise<readonly Remembered[]>;
  forget(id: string): Promise<Remembered>;
}

async function onDisk<T>(stateDir: string, use: (source: Source) => Promise<T>): Promise<T> {
  if (!existsSync(stateDir)) return use({ list: () => Promise.resolve([]), forget: (id) => Promise.reject(notThere(id)) });
  const [{ openStore }, { createRemembered }] = await Promise.all([import("../../../store/index.ts"), import("../../../tools/index.ts")]);
  await using store = await openStore({ stateDir, clock: systemClock });
  const remembered = createRemembered({ store, clock: systemClock, ids: createIds(systemRandom) });
  const shown = ({ createdAt, lastUsedAt, ...rest }: Awaited<ReturnType<typeof remembered.forget>>): Remembered => ({
    ...rest,
    createdAtMs: createdAt,
    lastUsedAtMs: lastUsedAt,
  });
  return await use({ list: async (agentId) => (await remembered.list(agentId)).map(shown), forget: async (id) => shown(await remembered.forget(id)) });
}

const notThere = (id: string): AppError => new AppError("NOT_FOUND", `no saved approval has the id ${JSON.stringify(id)}; there are no saved approvals`);

async function withSource<T>(io: Io, flags: GatewayFlags, use: (source: Source) => Promise<T>): Promise<T> {
  const target = await findTarget(io, flags);
  if (target.kind === "local" && !target.holder && flags.token === undefined && flags.password === undefined) return onDisk(target.stateDir, use);
  await using client = await connectTo(io, target, timeoutOf(flags));
  return await use({
    list: async (agentId) => (await client.request("exec.approvals.remembered", agentId === undefined ? {} : { agentId })).commands,
    forget: async (id) => (await client.request("exec.approvals.forget", { id })).command,
  });
}

function printRemembered(io: Io, commands: readonly Remembered[]): void {
  if (commands.length === 0) return io.out("No saved approvals\n");
  const style = createStyle(io.color);
  const ago = (at: number | null): string => (at === null ? "never" : `${formatDuration(Math.max(0, io.now() - at))} ago`);
  const rows = commands.map(({ id, agentId, covers, lastUsedAtMs }) => [id.slice(0, 8), agentId, covers, ago(lastUsedAtMs)]);
  io.out(formatTable(["Id", "Agent", "Allowed", "Used"], rows, { style, columns: io.columns }));
}

export const remembered = defineCommand({
  options: { agent: { type: "string", value: "id", help: "Only this agent" }, ...GATEWAY_OPTIONS },
  examples: [{ line: "openclaw approvals remembered --json", does: "Print JSON" }],
  async run({ io, values }) {
    const commands = await withSource(io, values, (source) => source.list(values.agent?.trim().toLowerCase()));
    if (values.json) printJson(io, { commands });
    else printRemembered(io, commands);
  },
});

export const forget = defineCommand({
  positionals: "<id>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw approvals forget REMEMBERED_ID", does: "The first characters of the id are enough" }],
  async run({ io, values, positionals: [id, extra] }) {
    if (id === undefined || extra !== undefined) throw new AppError("INVALID_INPUT", "expected one id; list them with: openclaw approvals remembered");
    const command = await withSource(io, values, (source) => source.forget(id));
    if (values.json) printJson(io, { ok: true, command });
    else io.out(`Removed for agent ${command.agentId}: ${command.covers}\n`);
  },
});
