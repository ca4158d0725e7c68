import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { formatDuration } from "../../base/text.ts";
import { inspectStore, type SessionRow } from "../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../command.ts";
import { loadFor } from "../config-source.ts";
import { printJson } from "../io.ts";
import { createStyle } from "../output/style.ts";
import { formatTable } from "../output/table.ts";

/** What kind of conversation a key stands for. */
export function kindOf(key: string): "direct" | "group" | "global" | "unknown" {
  if (key === "global") return "global";
  if (key === "unknown") return "unknown";
  return /:(?:group|channel):/.test(key) ? "group" : "direct";
}

/** Fields of the entry that the documented JSON form shows, in its order. */
const SHOWN = [
  "sessionId",
  "systemSent",
  "abortedLastRun",
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "responseUsage",
  "groupActivation",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "totalTokensFresh",
  "model",
  "modelProvider",
  "providerOverride",
  "modelOverride",
  "contextTokens",
] as const;

export function sessionJson({ key, entry }: SessionRow, now: number): Record<string, unknown> {
  const fields = Object.fromEntries(SHOWN.filter((name) => entry[name] !== undefined).map((name) => [name, entry[name]]));
  return {
    key,
    kind: kindOf(key),
    updatedAt: entry.updatedAt,
    ageMs: now - entry.updatedAt,
    ...fields,
    totalTokens: entry.totalTokensFresh === false ? null : (entry.totalTokens ?? null),
  };
}

function tokens({ entry }: SessionRow): string {
  if (entry.totalTokens === undefined || entry.totalTokensFresh === false) return "-";
  const share = entry.contextTokens ? ` (${Math.round((entry.totalTokens / entry.contextTokens) * 100)}%)` : "";
  return `${entry.totalTokens}${share}`;
}

function activeSince(minutes: string | undefined, now: number): number | undefined {
  if (minutes === undefined) return undefined;
  if (!/^\d+$/.test(minutes) || Number(minutes) < 1) throw new AppError("INVALID_INPUT", `--active takes minutes, a whole number above 0, not "${minutes}"`);
  return now - Number(minutes) * 60_000;
}

/** A state folder that no gateway of this make has seen is taken over first; nothing in it is changed. */
async function importFirst(stateDir: string): Promise<void> {
  const { openStore } = await import("../../store/index.ts");
  const { systemClock } = await import("../../base/clock.ts");
  await using store = await openStore({ stateDir, clock: systemClock });
  await store.imported();
}

export const sessions = defineCommand({
  options: {
    active: { type: "string", value: "minutes", help: "only those that changed in the last minutes" },
    agent: { type: "string", value: "id", help: "only this agent's" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw sessions", does: "all sessions, newest first" },
    { line: "openclaw sessions --active 60 --json", does: "those of the last hour, for machines" },
  ],
  async run({ io, values }) {
    const stateDir = loadFor(io).paths.state;
    const now = io.now();
    const since = activeSince(values.active, now);
    if (!existsSync(join(stateDir, "openclaw.db")) && existsSync(join(stateDir, "agents"))) await importFirst(stateDir);
    using state = inspectStore(stateDir);
    const filter = { agentId: values.agent, activeSince: since };
    const rows = state?.read("sessions.list", filter).rows ?? [];
    if (values.json) {
      printJson(io, {
        path: join(stateDir, "openclaw.db"),
        count: rows.length,
        activeMinutes: values.active ? Number(values.active) : null,
        sessions: rows.map((row) => sessionJson(row, now)),
      });
      return;
    }
    const style = createStyle(io.color);
    if (rows.length === 0) return io.out(`no sessions in ${stateDir}\n`);
    const table = rows.map((row) => [kindOf(row.key), `${formatDuration(now - row.entry.updatedAt)} ago`, row.entry.model ?? "-", tokens(row), row.key]);
    io.out(formatTable(["Kind", "Age", "Model", "Tokens", "Key"], table, { style, columns: io.columns }));
  },
});
