/** The state folder of a version of September 2026, as far as this program reads it: an agent's database and the shared one. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";

export const MAIN = "0d4b8b0c-3b56-4b0e-a1d2-000000000001";
export const OLD = "0d4b8b0c-3b56-4b0e-a1d2-000000000002";
/** A conversation that was begun again, once. */
export const RESET = "0d4b8b0c-3b56-4b0e-a1d2-000000000003";
export const NOW = 1_795_000_000_000;

const CRON = { kind: "cron", expr: "0 9 * * 1-5" };

export const sharedPath = (stateDir: string): string => join(stateDir, "state/openclaw.sqlite");
export const agentPath = (stateDir: string): string => join(stateDir, "agents/main/agent/openclaw-agent.sqlite");

const message = (id: string, parentId: string | null, role: string, text: string): object => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-09-20T10:00:00.000Z",
  message: { role, content: [{ type: "text", text }], timestamp: NOW },
});

export const EVENTS: Readonly<Record<string, readonly object[]>> = {
  [MAIN]: [
    { type: "session", version: 4, id: MAIN, timestamp: "2026-09-20T10:00:00.000Z", cwd: "/home/anna" },
    message("e1", null, "user", "buy pears"),
    message("e2", "e1", "assistant", "Pears it is. ".repeat(400)),
  ],
  [OLD]: [{ type: "session", version: 4, id: OLD, timestamp: "2026-09-01T10:00:00.000Z", cwd: "/" }, message("o1", null, "user", "an older window")],
  [RESET]: [
    { type: "session", version: 4, id: RESET, timestamp: "2026-09-02T10:00:00.000Z", cwd: "/" },
    message("r1", null, "user", "the word is BANANA"),
    message("r2", "r1", "assistant", "Noted."),
    { type: "reset", id: "r3", parentId: "r2", timestamp: "2026-09-03T10:00:00.000Z", reason: "new" },
    message("r4", "r3", "user", "hello again"),
    message("r5", "r4", "assistant", "Hello."),
  ],
};

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  const made = new DatabaseSync(path);
  made.exec("PRAGMA journal_mode = WAL");
  return made;
}

export function writeAgentDatabase(stateDir: string): void {
  using made = open(agentPath(stateDir));
  made.exec(`
    CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, updated_at INTEGER, pinned_at INTEGER, archived_at INTEGER);
    CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, updated_at INTEGER);
    CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, PRIMARY KEY (session_id, seq));
    CREATE TABLE auth_profile_store (store_key TEXT PRIMARY KEY, store_json TEXT, updated_at INTEGER)`);
  const entry = {
    sessionId: MAIN,
    updatedAt: NOW - 5000,
    chatType: "direct",
    label: "Shopping",
    delivery: { kind: "internal" },
    permissionMode: "read-only",
    sessionFile: "elsewhere.jsonl",
  };
  made.prepare("INSERT INTO session_nodes VALUES (?, ?, ?, ?, ?, NULL)").run("agent:main:main", MAIN, JSON.stringify(entry), NOW - 5000, NOW - 9000);
  for (const [at, [id, events]] of Object.entries(EVENTS).entries()) {
    made.prepare("INSERT INTO session_windows VALUES (?, 'agent:main:main', ?)").run(id, NOW - at);
    for (const [seq, event] of events.entries()) {
      const text = JSON.stringify(event);
      const isLong = text.length > 2000;
      made.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, ?)").run(id, seq, isLong ? null : text, isLong ? zstdCompressSync(text) : null);
    }
  }
}

export function writeSharedDatabase(stateDir: string): void {
  using made = open(sharedPath(stateDir));
  made.exec(`
    CREATE TABLE config_machine_state (state_key TEXT PRIMARY KEY, value_json TEXT, updated_at_ms INTEGER);
    CREATE TABLE device_identities (identity_key TEXT PRIMARY KEY, device_id TEXT, public_key_pem TEXT, private_key_pem TEXT, created_at_ms INTEGER);
    CREATE TABLE exec_approvals_config (config_key TEXT PRIMARY KEY, raw_json TEXT);
    CREATE TABLE channel_pairing_allow_entries (channel_key TEXT, account_id TEXT, entry TEXT, sort_order INTEGER, updated_at INTEGER);
    CREATE TABLE device_pairing_paired (device_id TEXT, public_key TEXT, display_name TEXT, platform TEXT, client_id TEXT, client_mode TEXT, role TEXT,
      roles_json TEXT, scopes_json TEXT, remote_ip TEXT, tokens_json TEXT, created_at_ms INTEGER, approved_at_ms INTEGER);
    CREATE TABLE cron_jobs (job_id TEXT, declaration_key TEXT, payload_kind TEXT, job_json TEXT, state_json TEXT, sort_order INTEGER, updated_at INTEGER)`);
  const profiles = { version: 1, profiles: { "anthropic:work": { type: "api_key", provider: "anthropic", key: "sk-ant-of-the-test" } } };
  made.prepare("INSERT INTO config_machine_state VALUES ('authProfiles.store', ?, 1)").run(JSON.stringify(profiles));
  made.prepare("INSERT INTO exec_approvals_config VALUES ('default', ?)").run(JSON.stringify({ version: 1, defaults: { security: "allowlist" }, agents: {} }));
  for (const sender of ["4711", "*"]) made.prepare("INSERT INTO channel_pairing_allow_entries VALUES ('telegram', 'default', ?, 0, 1)").run(sender);
  const tokens = { operator: { token: "token-of-the-test", role: "operator", scopes: ["operator.read"], createdAtMs: 5 } };
  made
    .prepare(
      "INSERT INTO device_pairing_paired VALUES ('d1', 'a2V5', 'Laptop', 'linux', 'cli', 'cli', 'operator', '[\"operator\"]', '[\"operator.read\"]', NULL, ?, 4, 5)",
    )
    .run(JSON.stringify(tokens));
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  const [publicPem, privatePem] = [publicKey.export({ type: "spki", format: "pem" }), privateKey.export({ type: "pkcs8", format: "pem" })];
  made.prepare("INSERT INTO device_identities VALUES ('primary', ?, ?, ?, 3)").run(createHash("sha256").update(raw).digest("hex"), publicPem, privatePem);
  const job = (id: string, name: string, kind: string, schedule: object = CRON, sessionTarget = "isolated"): string =>
    JSON.stringify({ id, name, enabled: true, schedule, sessionTarget, wakeMode: "now", payload: { kind, message: "sum up" }, state: {} });
  const put = made.prepare("INSERT INTO cron_jobs VALUES (?, ?, ?, ?, ?, 0, 7)");
  put.run("j1", null, "agentTurn", job("j1", "Stand-up", "agentTurn"), JSON.stringify({ nextRunAtMs: NOW + 60_000 }));
  put.run("j2", "heartbeat:main", "heartbeat", job("j2", "heartbeat-main", "heartbeat"), "{}");
  put.run("j3", null, "script", job("j3", "Backup", "script"), "{}");
  put.run("j4", null, "agentTurn", job("j4", "Watch", "agentTurn", { kind: "on-exit", command: "sleep 1" }), "{}");
  put.run("j5", null, "agentTurn", job("j5", "Digest", "agentTurn", CRON, "session:agent:main:main"), "{}");
}

/** The machine's identity in the shared database, as the documented file has it. */
export function identityIn(stateDir: string): object {
  using shared = new DatabaseSync(sharedPath(stateDir), { readOnly: true });
  const row = shared.prepare("SELECT device_id, public_key_pem, private_key_pem, created_at_ms FROM device_identities").get()!;
  const { device_id: deviceId, public_key_pem: publicKeyPem, private_key_pem: privateKeyPem, created_at_ms: createdAtMs } = row;
  return { version: 1, deviceId, publicKeyPem, privateKeyPem, createdAtMs };
}
