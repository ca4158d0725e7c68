/** State of plugins that outlives the process: one database per plugin, so that one can be looked at, copied and removed with its plugin. */
import type { DatabaseSync } from "node:sqlite";
import { join, resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { ensureFolder } from "../../../base/files.ts";
import type { RuntimeState } from "../../sdk/types/index.ts";
import type { PendingMember } from "../pending.ts";
import type { RuntimeOwner, RuntimePorts } from "../ports.ts";
import { openKeyedStore, openSyncKeyedStore } from "./keyed-store.ts";

export interface StateDatabases extends Disposable {
  /** The database of a plugin, opened at the first call. */
  of(pluginId: string): DatabaseSync;
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS entries (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revision INTEGER NOT NULL,
    PRIMARY KEY (namespace, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS revisions (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL) STRICT;
  INSERT OR IGNORE INTO revisions VALUES (1, 0);
  CREATE INDEX IF NOT EXISTS entries_by_age ON entries (namespace, revision);
`;

function open(folder: string): DatabaseSync {
  ensureFolder(folder);
  const file = join(folder, "state.sqlite");
  try {
    const { DatabaseSync: Database } = process.getBuiltinModule("node:sqlite");
    const database = new Database(file);
    database.exec(SCHEMA);
    return database;
  } catch (error) {
    throw fileError(file, "could not open the plugin's state", error);
  }
}

/** Below `<state>/plugins/<id>`. Other processes may have the same files open. */
export function createStateDatabases(stateDir: string): StateDatabases {
  const opened = new Map<string, DatabaseSync>();
  let closed = false;
  return {
    of(pluginId) {
      if (closed) throw new AppError("UNAVAILABLE", `the gateway is shutting down; plugin "${pluginId}" can no longer read or write its state`);
      let database = opened.get(pluginId);
      if (!database) opened.set(pluginId, (database = open(join(stateDir, "plugins", pluginId))));
      return database;
    },
    [Symbol.dispose]() {
      closed = true;
      for (const database of opened.values()) database.close();
      opened.clear();
    },
  };
}

/** `runtime.state`. */
export function createState({ config, databases, clock }: RuntimePorts, owner: RuntimeOwner, pending: PendingMember): RuntimeState {
  return {
    // An environment that names another folder gets that one; the gateway's own environment gets the gateway's.
    resolveStateDir: (env) => (env?.["OPENCLAW_STATE_DIR"]?.trim() ? resolve(env["OPENCLAW_STATE_DIR"].trim()) : config.paths.state),
    openKeyedStore: (options) => openKeyedStore(() => openSyncKeyedStore(databases.of(owner.id), options, clock)),
    openSyncKeyedStore: (options) => openSyncKeyedStore(databases.of(owner.id), options, clock),
    openChannelIngressQueue: pending("state.openChannelIngressQueue"),
    openChannelIngressDrain: pending("state.openChannelIngressDrain"),
  };
}
