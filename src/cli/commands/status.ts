import { statSync } from "node:fs";
import { join } from "node:path";
import { formatBytes, formatDuration } from "../../base/text.ts";
import { AppError } from "../../base/errors.ts";
import { formatLocated, isKept, type Snapshot } from "../../config/index.ts";
import type { MethodResult } from "../../protocol/index.ts";
import { inspectStore, type SessionRow } from "../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { loadFor } from "../config-source.ts";
import { tryGateway, type Answered } from "../gateway-call.ts";
import { probeGateway, type Probe } from "../gateway-probe.ts";
import { localTarget, openForReading } from "../gateway-target.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle, type Style } from "../output/style.ts";
import { formatFacts, formatTable } from "../output/table.ts";
import { escapeLine as printable } from "../../base/printable.ts";
import { kindOf, sessionJson } from "./sessions/list.ts";

const RECENT = 10;

interface StateSummary {
  readonly path: string;
  readonly bytes: number | undefined;
  /** Undefined: the database cannot be read. */
  readonly count: number | undefined;
  readonly recent: readonly SessionRow[];
  readonly inbox: { readonly pending: number; readonly claimed: number } | undefined;
  readonly error?: string;
}

function summarise(stateDir: string): StateSummary {
  const path = join(stateDir, "openclaw.db");
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  try {
    using state = inspectStore(stateDir);
    const list = state?.read("sessions.list", { limit: RECENT });
    return { path, bytes, count: list?.total ?? 0, recent: list?.rows ?? [], inbox: state?.read("inbox.counts", {}) };
  } catch (error) {
    return { path, bytes, count: undefined, recent: [], inbox: undefined, error: error instanceof Error ? error.message : String(error) };
  }
}

interface Overview {
  readonly probe: Probe;
  readonly snapshot: Snapshot;
  readonly stateDir: string;
  readonly state: StateSummary;
  readonly failed: Awaited<ReturnType<typeof failedPlugins>>;
  readonly nodes: Awaited<ReturnType<typeof nodesOf>>;
}

interface Deep {
  readonly health: MethodResult<"health">;
  readonly status: MethodResult<"status">;
  readonly presence: MethodResult<"system-presence">;
}

/** What only the running gateway knows. */
async function lookDeep(io: Io, timeoutMs: number): Promise<Answered<Deep>> {
  using config = await openForReading(io);
  return tryGateway(io, await localTarget(io, config), timeoutMs, async (client) => {
    const [health, status, presence] = await Promise.all([
      client.request("health", { probe: true }),
      client.request("status", {}),
      client.request("system-presence", {}),
    ]);
    return { health, status, presence };
  });
}

function printDeep(io: Io, { ok, latencyMs, value, error }: Answered<Deep>): void {
  const style = createStyle(io.color);
  if (!ok || !value) return io.out(`\n${style.yellow("!")} ${error}\n`);
  const facts: [string, string][] = [
    ["Connection", `${style.green("ok")} in ${latencyMs} ms`],
    ["Agents", value.health.agents.map(({ agentId }) => agentId).join(", ") || "none"],
    ["Channels", value.health.channelOrder.join(", ") || "none"],
    ["Queued events", String(value.status.queuedSystemEvents.length)],
  ];
  io.out(`\n${formatFacts(facts, style)}`);
  const rows = value.presence.map((entry) => [
    entry.mode ?? "-",
    entry.reason ?? "-",
    `${formatDuration(Math.max(0, io.now() - entry.ts))} ago`,
    entry.host ?? "-",
  ]);
  io.out(`\n${formatTable(["Mode", "Reason", "Seen", "Program"], rows, { style, columns: io.columns })}`);
}

function gatewayText({ reachable, url, holder, latencyMs, error }: Probe, style: Style): string {
  if (reachable) return `${style.green("running")} at ${url}, process ${holder?.pid}, answered in ${latencyMs} ms`;
  if (holder) return `${style.yellow("not answering")}: ${error}`;
  return `${style.dim("not running")} (start it with: openclaw gateway)`;
}

/** Which configuration is in effect: as the running gateway reports, or what the next start would use. */
function inUse({ health }: Probe, { path, exists, valid }: Snapshot, stateDir: string): "file" | "last-good" | "defaults" {
  if (health) return health.config.source;
  if (exists && valid) return "file";
  return isKept(stateDir, path) ? "last-good" : exists ? "file" : "defaults";
}

function configText({ path, exists, valid, issues, warnings }: Snapshot, holds: ReturnType<typeof inUse>, style: Style): string {
  const stays = holds === "last-good" ? "; the last good configuration is in use" : "";
  if (!exists) return `${path} ${stays === "" ? style.dim("(not found; using defaults)") : style.red(`missing${stays}: openclaw config validate`)}`;
  const remark = valid
    ? stays !== ""
      ? style.red(`not in use${stays}`)
      : warnings.length > 0
        ? style.yellow(`${warnings.length} ${warnings.length === 1 ? "warning" : "warnings"}: openclaw config validate`)
        : style.green("valid")
    : style.red(`${issues.length} ${issues.length === 1 ? "error" : "errors"}${stays}: openclaw config validate`);
  return `${path}  ${remark}`;
}

/** Plugins that are on and that the running gateway could not load; undefined when it cannot be asked. */
async function failedPlugins(io: Io, stateDir: string): Promise<readonly { readonly id: string; readonly error: string }[] | undefined> {
  const { runningPlugins } = await import("./plugins/running.ts");
  const plugins = await runningPlugins(io, stateDir).catch(() => undefined);
  return plugins?.flatMap(({ id, status, error }) => (status === "error" ? [{ id, error: error ?? "no reason given" }] : []));
}

type Nodes = MethodResult<"node.list">["nodes"];

/** Paired nodes as the running gateway has them; undefined when there are none, or it cannot be asked. */
async function nodesOf(io: Io, stateDir: string, timeoutMs: number): Promise<Nodes | undefined> {
  try {
    using state = inspectStore(stateDir);
    if (!state?.read("devices.tokens", {}).some(({ role, revokedAt }) => role === "node" && revokedAt === null)) return undefined;
  } catch {
    return undefined;
  }
  using config = await openForReading(io);
  const { value } = await tryGateway(io, await localTarget(io, config), timeoutMs, (client) => client.request("node.list", {}));
  return value && value.nodes.length > 0 ? value.nodes : undefined;
}

function nodesText(nodes: Nodes, style: Style): string {
  const [here, away] = [true, false].map((connected) =>
    nodes.filter((node) => node.connected === connected).map(({ displayName, nodeId }) => printable(displayName ?? nodeId.slice(0, 12))),
  );
  const parts = [
    ...(here?.length ? [`${style.green("connected")}: ${here.join(", ")}`] : []),
    ...(away?.length ? [`${style.dim("away")}: ${away.join(", ")}`] : []),
  ];
  return parts.join("; ");
}

function print(io: Io, { probe, snapshot, stateDir, state, failed, nodes }: Overview): void {
  const style = createStyle(io.color);
  const health = probe.health;
  const healthFacts: [string, string][] = health
    ? [
        ["Health", health.status === "ok" ? style.green("ok") : style.red(health.status)],
        ["Up", formatDuration(health.uptimeMs)],
      ]
    : [];
  const facts: [string, string][] = [
    ["Version", io.version],
    ["Gateway", gatewayText(probe, style)],
    ...healthFacts,
    ["Config", configText(snapshot, inUse(probe, snapshot, stateDir), style)],
    ["State", `${stateDir}${state.bytes === undefined ? style.dim(" (empty)") : `, database ${formatBytes(state.bytes)}`}`],
    ["Sessions", state.count === undefined ? style.yellow("unknown") : String(state.count)],
  ];
  if (failed && failed.length > 0) {
    facts.push(["Plugins", style.red(`${failed.length} failed to load (${failed.map(({ id }) => printable(id)).join(", ")}): openclaw plugins list`)]);
  }
  if (nodes) facts.push(["Nodes", nodesText(nodes, style)]);
  if (state.inbox) facts.push(["Inbox", `${state.inbox.pending} queued, ${state.inbox.claimed} in progress`]);
  io.out(io.runnable(formatFacts(facts, style)));
  for (const problem of [...(health?.problems ?? []), ...(state.error ? [state.error] : [])]) io.out(io.runnable(`${style.yellow("!")} ${problem}\n`));
  if (state.recent.length === 0) return;
  const rows = state.recent.map((row) => [kindOf(row.key), `${formatDuration(io.now() - row.entry.updatedAt)} ago`, row.key]);
  io.out(`\n${formatTable(["Kind", "Age", "Session"], rows, { style, columns: io.columns })}`);
}

export const status = defineCommand({
  options: {
    json: JSON_OPTION,
    deep: { type: "boolean", help: "Also show health, sessions and clients of the running gateway" },
    timeout: { type: "string", value: "ms", help: "Time to wait for the gateway, in ms (default 10000)" },
  },
  examples: [
    { line: "openclaw status", does: "Overview" },
    { line: "openclaw status --json", does: "Same, as JSON" },
    { line: "openclaw status --deep", does: "Overview with live data of the gateway" },
  ],
  async run({ io, values }) {
    const timeout = Number(values.timeout ?? 10_000);
    if (!(timeout > 0)) throw new AppError("INVALID_INPUT", `--timeout takes milliseconds above 0, not "${values.timeout}"`);
    const { snapshot, paths } = loadFor(io);
    const probe = await probeGateway(paths.state, timeout);
    const state = summarise(paths.state);
    const failed = probe.reachable ? await failedPlugins(io, paths.state) : undefined;
    const nodes = probe.reachable ? await nodesOf(io, paths.state, timeout) : undefined;
    const deep = values.deep ? await lookDeep(io, timeout) : undefined;
    if (!values.json) {
      print(io, { probe, snapshot, stateDir: paths.state, state, failed, nodes });
      return deep && printDeep(io, deep);
    }
    const { holder, health, ...rest } = probe;
    printJson(io, {
      version: io.version,
      gateway: { mode: snapshot.config.gateway?.mode ?? "local", ...rest, pid: holder?.pid, startedAt: holder?.createdAt },
      health: health ?? null,
      ...(failed === undefined ? {} : { plugins: { failed } }),
      ...(nodes === undefined
        ? {}
        : { nodes: nodes.map(({ nodeId, displayName, platform, connected, connectedAtMs }) => ({ nodeId, displayName, platform, connected, connectedAtMs })) }),
      config: {
        path: snapshot.path,
        exists: snapshot.exists,
        valid: snapshot.valid,
        inUse: inUse(probe, snapshot, paths.state),
        issues: snapshot.issues.map(formatLocated),
        warnings: snapshot.warnings.map(formatLocated),
      },
      state: { dir: paths.state, database: state.path, bytes: state.bytes ?? 0, inbox: state.inbox ?? null, ...(state.error ? { error: state.error } : {}) },
      ...(deep ? { deep: { ok: deep.ok, ...(deep.error === undefined ? {} : { error: deep.error }), ...deep.value } } : {}),
      sessions: { paths: [state.path], count: state.count ?? null, recent: state.recent.map((row) => sessionJson(row, io.now())) },
    });
  },
});
