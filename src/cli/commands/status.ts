import { statSync } from "node:fs";
import { join } from "node:path";
import { formatBytes, formatDuration } from "../../base/text.ts";
import { AppError } from "../../base/errors.ts";
import { formatLocated, type Snapshot } from "../../config/index.ts";
import { inspectStore, type SessionRow } from "../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { loadFor } from "../config-source.ts";
import { probeGateway, type Probe } from "../gateway-probe.ts";
import { printJson, type Io } from "../io.ts";
import { createStyle, type Style } from "../output/style.ts";
import { formatFacts, formatTable } from "../output/table.ts";
import { kindOf, sessionJson } from "./sessions.ts";

const RECENT = 10;

interface StateSummary {
  readonly path: string;
  readonly bytes: number | undefined;
  readonly count: number;
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
    return { path, bytes, count: 0, recent: [], inbox: undefined, error: error instanceof Error ? error.message : String(error) };
  }
}

function gatewayText({ reachable, url, holder, latencyMs, error }: Probe, style: Style): string {
  if (reachable) return `${style.green("running")} at ${url}, process ${holder?.pid}, answered in ${latencyMs} ms`;
  if (holder) return `${style.yellow("not answering")}: ${error}`;
  return `${style.dim("not running")} (start it with: openclaw gateway)`;
}

function configText({ path, exists, valid, issues, warnings }: Snapshot, style: Style): string {
  if (!exists) return `${path} ${style.dim("(not there: defaults)")}`;
  const remark = valid
    ? warnings.length > 0
      ? style.yellow(`${warnings.length} to look at: openclaw config validate`)
      : style.green("valid")
    : style.red(`${issues.length} errors: openclaw config validate`);
  return `${path}  ${remark}`;
}

function print(io: Io, probe: Probe, snapshot: Snapshot, stateDir: string, state: StateSummary): void {
  const style = createStyle(io.color);
  const health = probe.health;
  const facts: [string, string][] = [
    ["Version", io.version],
    ["Gateway", gatewayText(probe, style)],
    ...(health
      ? ([
          ["Health", health.status === "ok" ? style.green("ok") : style.red(health.status)],
          ["Up", formatDuration(health.uptimeMs)],
        ] as [string, string][])
      : []),
    ["Config", configText(snapshot, style)],
    ["State", `${stateDir}${state.bytes === undefined ? style.dim(" (empty)") : `, database ${formatBytes(state.bytes)}`}`],
    ["Sessions", String(state.count)],
  ];
  if (state.inbox) facts.push(["Inbox", `${state.inbox.pending} waiting, ${state.inbox.claimed} being worked on`]);
  io.out(formatFacts(facts, style));
  for (const problem of [...(health?.problems ?? []), ...(state.error ? [state.error] : [])]) io.out(`${style.yellow("!")} ${problem}\n`);
  if (state.recent.length === 0) return;
  const rows = state.recent.map((row) => [kindOf(row.key), `${formatDuration(io.now() - row.entry.updatedAt)} ago`, row.key]);
  io.out(`\n${formatTable(["Kind", "Age", "Session"], rows, { style, columns: io.columns })}`);
}

export const status = defineCommand({
  options: { json: JSON_OPTION, timeout: { type: "string", value: "ms", help: "how long to wait for the gateway (default 10000)" } },
  examples: [
    { line: "openclaw status", does: "an overview" },
    { line: "openclaw status --json", does: "the same for machines" },
  ],
  async run({ io, values }) {
    const timeout = Number(values.timeout ?? 10_000);
    if (!(timeout > 0)) throw new AppError("INVALID_INPUT", `--timeout takes milliseconds above 0, not "${values.timeout}"`);
    const { snapshot, paths } = loadFor(io);
    const probe = await probeGateway(paths.state, timeout);
    const state = summarise(paths.state);
    if (!values.json) return print(io, probe, snapshot, paths.state, state);
    const { holder, health, ...rest } = probe;
    printJson(io, {
      version: io.version,
      gateway: { mode: snapshot.config.gateway?.mode ?? "local", ...rest, pid: holder?.pid, startedAt: holder?.createdAt },
      health: health ?? null,
      config: {
        path: snapshot.path,
        exists: snapshot.exists,
        valid: snapshot.valid,
        issues: snapshot.issues.map(formatLocated),
        warnings: snapshot.warnings.map(formatLocated),
      },
      state: { dir: paths.state, database: state.path, bytes: state.bytes ?? 0, inbox: state.inbox ?? null, ...(state.error ? { error: state.error } : {}) },
      sessions: { paths: [state.path], count: state.count, recent: state.recent.map((row) => sessionJson(row, io.now())) },
    });
  },
});
