import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ROOT } from "../harness/gateway-process.ts";
import { openTestStore } from "../harness/program.ts";

export const fileOf = (n: number): string => `agents/main/sessions/session-${n}.jsonl`;

/** A state folder with sessions, each with a transcript of `entries` lines behind its header. */
export async function seedSessions(stateDir: string, sessions: number, entries = 20): Promise<void> {
  await using store = await openTestStore(stateDir);
  const work = Array.from({ length: sessions }, async (_, n) => {
    const file = fileOf(n);
    const header = JSON.stringify({ type: "session", version: 3, id: `session-${n}`, timestamp: "2026-01-01T00:00:00.000Z" });
    const lines = Array.from({ length: entries }, (_, i) => {
      const [id, parentId] = [`e${n}-${i}`, i === 0 ? null : `e${n}-${i - 1}`];
      return { id, parentId, type: "message", line: JSON.stringify({ type: "message", id, parentId, text: `line ${i} of ${n} ${"y".repeat(200)}` }) };
    });
    await store.commit([
      ["sessions.put", { key: `agent:main:chat:${n}`, agentId: "main", entry: { sessionId: `session-${n}`, updatedAt: 1_771_000_000_000 + n } }],
      ["transcripts.ensure", { file, agentId: "main", sessionId: `session-${n}`, header }],
      ["transcripts.append", { file, entries: lines }],
    ]);
  });
  await Promise.all(work);
}

/** A copy of a state folder of the reference system, as a user would bring it. */
export function copyReference(stateDir: string): void {
  cpSync(join(ROOT, "test/fixtures/state/reference"), stateDir, { recursive: true, filter: (path) => !path.endsWith("README.md") });
  for (const agent of ["main", "work"]) {
    const index = join(stateDir, `agents/${agent}/sessions/sessions.json`);
    writeFileSync(index, readFileSync(index, "utf8").replaceAll("__STATE__", stateDir));
  }
}

/** Everything that an import writes, without the times at which it did. */
export function importedRows(stateDir: string): string {
  using db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true });
  const queries = [
    "SELECT key, agent_id, session_id, updated_at, entry FROM sessions ORDER BY key",
    "SELECT t.file, t.agent_id, t.session_id, t.bytes, t.leaf_id, e.seq, e.entry_id, e.parent_id, e.line FROM transcripts t JOIN transcript_entries e USING (tid) ORDER BY 1, 6",
    "SELECT id, agent_id, enabled, next_run_at, job FROM cron_jobs ORDER BY 1",
    "SELECT source, size, state FROM imports ORDER BY 1",
    "SELECT count(*) FROM devices UNION ALL SELECT count(*) FROM pairing_requests UNION ALL SELECT count(*) FROM subagents",
  ];
  return JSON.stringify(queries.map((query) => db.prepare(query).all())).replaceAll(stateDir, "<state>");
}

/** Transcripts that a first start takes over in many small commits, while the gateway is already there for others. */
export function manyTranscripts(stateDir: string, count: number, bytes = 10): void {
  const folder = join(stateDir, "agents/main/sessions");
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < count; n += 1) {
    const header = JSON.stringify({ type: "session", version: 3, id: `s-${n}`, timestamp: "2026-01-01T00:00:00.000Z" });
    writeFileSync(join(folder, `s-${n}.jsonl`), `${header}\n${JSON.stringify({ type: "message", id: "00000001", parentId: null, text: "z".repeat(bytes) })}\n`);
  }
}

/** True when everything that was found in files is in the database. */
export function isImported(stateDir: string): boolean {
  return hasFact(stateDir, "store.imported");
}

/** True when the jobs of `jobs.json` were read, too. */
export const areJobsImported = (stateDir: string): boolean => hasFact(stateDir, "cron.file");

function hasFact(stateDir: string, key: string): boolean {
  using db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true });
  return db.prepare("SELECT 1 FROM meta WHERE key = ?").get(key) !== undefined;
}

export function transcriptCount(stateDir: string): number {
  using db = new DatabaseSync(join(stateDir, "openclaw.db"), { readOnly: true });
  return Number(db.prepare("SELECT count(*) AS n FROM transcripts").get()!["n"]);
}
