/**
 * Version 1 of the file. Times are milliseconds since the epoch, JSON is text, booleans are 0 or 1.
 * A table that is written for every message has as few indexes as its queries need: each one is one page more per commit, and one over
 * random ids a different page each time. Hence inbox and outbox rows are numbered in order.
 */
const INTAKE = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE imports (source TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime INTEGER NOT NULL, state TEXT NOT NULL, detail TEXT, at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE inbox (
  id INTEGER PRIMARY KEY,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  conversation TEXT NOT NULL,
  message_id TEXT NOT NULL,
  session_key TEXT,
  agent_id TEXT,
  sender TEXT,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  payload TEXT,
  state TEXT NOT NULL,
  outcome TEXT,
  why TEXT,
  turn_id TEXT,
  received_at INTEGER NOT NULL,
  claimed_at INTEGER,
  settled_at INTEGER,
  -- Message ids grow on most platforms: first in the index they keep its writes together, and a message is found by its id alone.
  UNIQUE (message_id, conversation, account, channel)
);
CREATE INDEX inbox_open ON inbox (id) WHERE state <> 'settled';
CREATE INDEX inbox_turn ON inbox (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX inbox_settled ON inbox (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  why TEXT,
  resumptions INTEGER NOT NULL,
  next_step INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  touched_at INTEGER NOT NULL,
  ended_at INTEGER,
  detail TEXT
) WITHOUT ROWID;
CREATE INDEX turns_running ON turns (started_at) WHERE state = 'running';
CREATE INDEX turns_session ON turns (session_key, started_at);
CREATE INDEX turns_ended ON turns (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE journal (
  turn_id TEXT NOT NULL,
  step INTEGER NOT NULL,
  kind TEXT NOT NULL,
  call_id TEXT,
  data TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (turn_id, step)
) WITHOUT ROWID;

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  nonce TEXT NOT NULL,
  turn_id TEXT,
  session_key TEXT,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  target TEXT NOT NULL,
  payload TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  repeats INTEGER NOT NULL,
  next_attempt_at INTEGER,
  expires_at INTEGER NOT NULL,
  receipt TEXT,
  why TEXT,
  created_at INTEGER NOT NULL,
  attempted_at INTEGER,
  settled_at INTEGER
);
CREATE INDEX outbox_open ON outbox (id) WHERE settled_at IS NULL;
CREATE INDEX outbox_turn ON outbox (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;
`;

const SESSIONS = `
CREATE TABLE sessions (
  key TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  channel TEXT,
  chat_type TEXT,
  label TEXT,
  spawned_by TEXT,
  version INTEGER NOT NULL,
  entry TEXT NOT NULL
);
CREATE INDEX sessions_updated ON sessions (updated_at);
CREATE INDEX sessions_session ON sessions (session_id);
CREATE INDEX sessions_label ON sessions (label) WHERE label IS NOT NULL;
CREATE INDEX sessions_spawned ON sessions (spawned_by) WHERE spawned_by IS NOT NULL;

CREATE TABLE transcripts (
  tid INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  file TEXT NOT NULL UNIQUE,
  next_seq INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  leaf_id TEXT,
  created_at INTEGER NOT NULL,
  archived_at INTEGER
);
CREATE INDEX transcripts_session ON transcripts (agent_id, session_id);

CREATE TABLE transcript_entries (
  tid INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  entry_id TEXT,
  parent_id TEXT,
  type TEXT NOT NULL,
  ts INTEGER,
  line TEXT NOT NULL,
  PRIMARY KEY (tid, seq)
) WITHOUT ROWID;
CREATE INDEX transcript_entries_id ON transcript_entries (tid, entry_id) WHERE entry_id IS NOT NULL;

CREATE TABLE session_extensions (
  session_key TEXT NOT NULL,
  plugin_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  value TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_key, plugin_id, namespace)
) WITHOUT ROWID;

CREATE TABLE injections (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session_key TEXT NOT NULL,
  plugin_id TEXT NOT NULL,
  idempotency_key TEXT,
  placement TEXT NOT NULL,
  text TEXT NOT NULL,
  payload TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  turn_id TEXT,
  drained_at INTEGER
);
CREATE UNIQUE INDEX injections_key ON injections (session_key, plugin_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX injections_open ON injections (session_key, seq) WHERE drained_at IS NULL;
`;

const COORDINATION = `
CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT, token INTEGER NOT NULL UNIQUE, expires_at INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE idempotency (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  payload_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  result TEXT,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  session_key TEXT,
  agent_id TEXT,
  turn_id TEXT,
  request TEXT NOT NULL,
  state TEXT NOT NULL,
  decision TEXT,
  decided_by TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  decided_at INTEGER
) WITHOUT ROWID;
CREATE INDEX approvals_pending ON approvals (expires_at) WHERE state = 'pending';
CREATE INDEX approvals_decided ON approvals (decided_at) WHERE decided_at IS NOT NULL;

CREATE TABLE subagents (
  run_id TEXT PRIMARY KEY,
  child_session_key TEXT NOT NULL,
  requester_session_key TEXT NOT NULL,
  state TEXT NOT NULL,
  outcome TEXT,
  announced INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  archive_at INTEGER,
  data TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX subagents_requester ON subagents (requester_session_key, created_at);
CREATE INDEX subagents_child ON subagents (child_session_key);
CREATE INDEX subagents_archive ON subagents (archive_at) WHERE archive_at IS NOT NULL;

CREATE TABLE cron_jobs (
  id TEXT PRIMARY KEY,
  agent_id TEXT,
  enabled INTEGER NOT NULL,
  next_run_at INTEGER,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  job TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX cron_jobs_next ON cron_jobs (next_run_at) WHERE next_run_at IS NOT NULL;

CREATE TABLE cron_slots (
  job_id TEXT NOT NULL,
  scheduled_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  owner TEXT,
  claimed_at INTEGER NOT NULL,
  finished_at INTEGER,
  status TEXT,
  detail TEXT,
  PRIMARY KEY (job_id, scheduled_at)
) WITHOUT ROWID;
CREATE INDEX cron_slots_running ON cron_slots (claimed_at) WHERE state = 'running';
CREATE INDEX cron_slots_finished ON cron_slots (finished_at) WHERE finished_at IS NOT NULL;
`;

const DEVICES = `
CREATE TABLE devices (
  id TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  approved_at INTEGER NOT NULL,
  data TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE device_tokens (
  device_id TEXT NOT NULL,
  role TEXT NOT NULL,
  token TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  PRIMARY KEY (device_id, role)
) WITHOUT ROWID;

CREATE TABLE pairing_requests (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  code TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  data TEXT NOT NULL,
  UNIQUE (kind, subject)
) WITHOUT ROWID;

CREATE TABLE allow_entries (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  sender TEXT NOT NULL,
  source TEXT NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (channel, account, sender)
) WITHOUT ROWID;

CREATE TABLE usage (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  day TEXT NOT NULL,
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  channel TEXT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  turn_id TEXT,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost REAL NOT NULL,
  duration_ms INTEGER NOT NULL,
  failed INTEGER NOT NULL
);
CREATE INDEX usage_day ON usage (day);
CREATE INDEX usage_session ON usage (session_key, at);
`;

export const SCHEMA_V1: string = INTAKE + SESSIONS + COORDINATION + DEVICES;
