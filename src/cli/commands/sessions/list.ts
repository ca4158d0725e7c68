import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/text.ts";
import { defaultAgentId, type Snapshot } from "../../../config/index.ts";
import { inspectStore, type Inspection, type SessionRow } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import type { Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { createTable } from "../../output/table.ts";

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
    ageMs: Math.max(0, now - entry.updatedAt),
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
  const { openStore } = await import("../../../store/index.ts");
  const { systemClock } = await import("../../../base/clock.ts");
  await using store = await openStore({ stateDir, clock: systemClock });
  await store.imported();
}

/** Sessions that are read at a time: what is printed is not held. */
const PAGE = 100;

interface Wanted {
  readonly agentId: string | undefined;
  readonly activeSince: number | undefined;
}

/** All of them, newest first, page by page. */
function* sessionsOf(state: Inspection | undefined, wanted: Wanted): Generator<SessionRow> {
  let after: { readonly updatedAt: number; readonly key: string } | undefined;
  if (!state) return;
  for (let full = true; full;) {
    const { rows } = state.read("sessions.list", { ...wanted, limit: PAGE, after });
    yield* rows;
    const last = rows.at(-1);
    after = last && { updatedAt: Math.trunc(last.entry.updatedAt), key: last.key };
    full = rows.length === PAGE;
  }
}

/** Characters that are written at once. */
const WRITTEN = 64 * 1024;

/** Writes pieces of text as they come, many at a time. */
function printPieces(io: Io, pieces: Iterable<string>): void {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < WRITTEN) continue;
    io.out(text);
    text = "";
  }
  io.out(text);
}

/** One JSON document, as its sessions are read. */
function* jsonPieces(head: Readonly<Record<string, unknown>>, rows: Iterable<SessionRow>, now: number): Generator<string> {
  const start = JSON.stringify({ ...head, sessions: [] }, null, 2);
  yield start.slice(0, start.lastIndexOf("]"));
  let first = true;
  for (const row of rows) {
    yield `${first ? "" : ","}\n    ${JSON.stringify(sessionJson(row, now), null, 2).replaceAll("\n", "\n    ")}`;
    first = false;
  }
  yield `${first ? "" : "\n  "}]\n}\n`;
}

function* tablePieces(io: Io, rows: () => Iterable<SessionRow>, now: number): Generator<string> {
  const cells = (row: SessionRow): readonly string[] => [
    kindOf(row.key),
    `${formatDuration(now - row.entry.updatedAt)} ago`,
    row.entry.model ?? "-",
    tokens(row),
    row.key,
  ];
  const table = createTable(["Kind", "Age", "Model", "Tokens", "Key"], { style: createStyle(io.color), columns: io.columns });
  // Read twice: how wide the columns are is known when all have been seen.
  for (const row of rows()) table.measure(cells(row));
  yield table.header();
  for (const row of rows()) yield table.line(cells(row));
}

function noneText({ config, valid }: Snapshot, stateDir: string, agent: string | undefined): string {
  if (agent === undefined) return `No sessions in ${stateDir}\n`;
  const agents = config.agents?.list?.map(({ id }) => id) ?? [defaultAgentId(config)];
  const isKnown = !valid || agents.includes(agent);
  return `No sessions of agent ${JSON.stringify(agent)} in ${stateDir}${isKnown ? "" : `. There is no such agent in the configuration; it has ${agents.join(", ")}`}\n`;
}

export const list = defineCommand({
  options: {
    active: { type: "string", value: "minutes", help: "Only sessions active in the last minutes" },
    agent: { type: "string", value: "id", help: "Only this agent" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw sessions", does: "All sessions, newest first" },
    { line: "openclaw sessions --active 60 --json", does: "Sessions of the last hour, as JSON" },
  ],
  async run({ io, values }) {
    const { snapshot, paths } = loadFor(io);
    const stateDir = paths.state;
    const now = io.now();
    const since = activeSince(values.active, now);
    if (!existsSync(join(stateDir, "openclaw.db")) && existsSync(join(stateDir, "agents"))) await importFirst(stateDir);
    using state = inspectStore(stateDir);
    const wanted = { agentId: values.agent, activeSince: since };
    const count = state?.read("sessions.list", { ...wanted, limit: 1 }).total ?? 0;
    if (values.json) {
      const head = { path: join(stateDir, "openclaw.db"), count, activeMinutes: values.active ? Number(values.active) : null };
      return printPieces(io, jsonPieces(head, sessionsOf(state, wanted), now));
    }
    if (count === 0) return io.out(noneText(snapshot, stateDir, values.agent));
    printPieces(
      io,
      tablePieces(io, () => sessionsOf(state, wanted), now),
    );
  },
});
