import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import { loadLooseJson, type Json } from "./loose-json.ts";
import { currentKey } from "./session-key.ts";
import { isRecord } from "../../base/records.ts";

/** One file of records, read inside the caller's transaction. */
export interface RecordSource {
  readonly path: string;
  readonly now: () => number;
  readonly problem: (text: string) => void;
}

/** How long a pairing request is valid (documented). */
const PAIRING_TTL_MS = 5 * 60_000;

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const time = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? Math.trunc(value) : undefined);

/** A map by id or a list; anything else is refused. */
function records(value: unknown, what: string): Json[] {
  const all: readonly unknown[] | undefined = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : undefined;
  if (!all) throw new AppError("INVALID_INPUT", `expected ${what}`);
  return all.filter(isRecord);
}

/** `cron/jobs.json`: `{ version, jobs: [] }`, or the bare list of old files. The job itself is stored unchanged. */
export function importCronJobs(db: DatabaseSync, source: RecordSource): number {
  const file = loadLooseJson(source.path);
  return putCronJobs(db, source, records(isRecord(file) ? file["jobs"] : file, "{ version, jobs: [ … ] }"));
}

export function putCronJobs(db: DatabaseSync, source: Omit<RecordSource, "path">, jobs: Iterable<Json>): number {
  const put = db.prepare("INSERT OR IGNORE INTO cron_jobs (id, agent_id, enabled, next_run_at, version, updated_at, job) VALUES (?, ?, ?, ?, 1, ?, ?)");
  let written = 0;
  for (const job of jobs) {
    const id = text(job["id"]) ?? text(job["jobId"]);
    if (id === undefined) {
      source.problem("a job without id was left out");
      continue;
    }
    const enabled = job["enabled"] !== false;
    const state = isRecord(job["state"]) ? job["state"] : {};
    const next = enabled ? (time(state["nextRunAtMs"]) ?? null) : null;
    const kept = JSON.stringify(job["id"] === id ? job : { ...job, id });
    written += Number(put.run(id, text(job["agentId"]) ?? null, enabled ? 1 : 0, next, time(job["updatedAtMs"]) ?? source.now(), kept).changes);
  }
  return written;
}

function importTokens(db: DatabaseSync, deviceId: string, tokens: unknown): void {
  if (!isRecord(tokens) && !Array.isArray(tokens)) return;
  const put = db.prepare(
    "INSERT OR IGNORE INTO device_tokens (device_id, role, token, scopes, created_at, rotated_at, revoked_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  for (const [key, value] of Object.entries(tokens)) {
    if (!isRecord(value)) continue;
    const role = text(value["role"]) ?? (Array.isArray(tokens) ? undefined : key);
    const token = text(value["token"]);
    if (role === undefined || token === undefined) continue;
    const scopes = Array.isArray(value["scopes"]) ? value["scopes"] : [];
    const times = [value["rotatedAtMs"], value["revokedAtMs"], value["lastUsedAtMs"]].map((at) => time(at) ?? null);
    put.run(deviceId, role, token, JSON.stringify(scopes), time(value["createdAtMs"]) ?? 0, ...times);
  }
}

/** `devices/paired.json`. Tokens get their own rows: they are secrets and go nowhere else. */
export function importDevices(db: DatabaseSync, source: RecordSource): number {
  return putDevices(db, source, records(loadLooseJson(source.path), "a map of devices by id"));
}

export function putDevices(db: DatabaseSync, source: Omit<RecordSource, "path">, devices: Iterable<Json>): number {
  const put = db.prepare("INSERT OR IGNORE INTO devices (id, public_key, created_at, approved_at, data) VALUES (?, ?, ?, ?, ?)");
  let written = 0;
  for (const { tokens, ...device } of devices) {
    const id = text(device["deviceId"]);
    const key = text(device["publicKey"]);
    if (id === undefined || key === undefined) {
      source.problem("a device without deviceId or publicKey was left out: pair it again");
      continue;
    }
    const created = time(device["createdAtMs"]) ?? source.now();
    written += Number(put.run(id, key, created, time(device["approvedAtMs"]) ?? created, JSON.stringify(device)).changes);
    importTokens(db, id, tokens);
  }
  return written;
}

/** `devices/pending.json`. Expired requests are skipped. */
export function importPairingRequests(db: DatabaseSync, source: RecordSource): number {
  const put = db.prepare(
    "INSERT OR IGNORE INTO pairing_requests (id, kind, subject, code, created_at, expires_at, data) VALUES (?, 'device', ?, NULL, ?, ?, ?)",
  );
  let written = 0;
  for (const request of records(loadLooseJson(source.path), "a map of requests by id")) {
    const [id, device, at] = [text(request["requestId"]), text(request["deviceId"]), time(request["ts"])];
    if (id === undefined || device === undefined || at === undefined || at + PAIRING_TTL_MS <= source.now()) continue;
    written += Number(put.run(id, device, at, at + PAIRING_TTL_MS, JSON.stringify(request)).changes);
  }
  return written;
}

/** `subagents/runs.json`. A finished run counts as announced: last week's results are not announced again. */
export function importSubagentRuns(db: DatabaseSync, source: RecordSource): number {
  const file = loadLooseJson(source.path);
  const runs = isRecord(file) ? file["runs"] : undefined;
  if (!isRecord(runs)) throw new AppError("INVALID_INPUT", "expected { version, runs: { … } }");
  const put = db.prepare(
    `INSERT OR IGNORE INTO subagents (run_id, child_session_key, requester_session_key, state, outcome, announced, created_at, started_at, ended_at, archive_at, data)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  let written = 0;
  for (const [runId, run] of Object.entries(runs)) {
    const child = isRecord(run) ? text(run["childSessionKey"]) : undefined;
    const requester = isRecord(run) ? text(run["requesterSessionKey"]) : undefined;
    if (!isRecord(run) || child === undefined || requester === undefined) {
      source.problem(`the run ${JSON.stringify(runId)} names no sessions and was left out`);
      continue;
    }
    const [started, ended] = [time(run["startedAt"]) ?? null, time(run["endedAt"]) ?? null];
    const state = ended !== null ? "ended" : started !== null ? "running" : "queued";
    const outcome = isRecord(run["outcome"]) ? text(run["outcome"]["status"]) : text(run["outcome"]);
    const times = [time(run["createdAt"]) ?? source.now(), started, ended, time(run["archiveAtMs"]) ?? null] as const;
    written += Number(
      put.run(runId, currentKey(child), currentKey(requester), state, outcome ?? null, ended === null ? 0 : 1, ...times, JSON.stringify(run)).changes,
    );
  }
  return written;
}
