import type { DatabaseSync, StatementSync } from "node:sqlite";
import { loadSearchText, type SessionRef } from "../sqlite/areas/session-previews.ts";
import { firstRow, numberOf } from "../rows.ts";
import { unsyncedTransaction } from "../sqlite/connection.ts";

/** Most sessions per step, and the time after which a step ends early: no commit waits longer than about this. */
const STEP_SESSIONS = 50;
const STEP_MS = 3;
/** This many marked sessions are searched directly in a few milliseconds: the index need not catch up for fewer. */
const FEW_MARKED = 200;
/** Commits after which the marked sessions are counted again. */
const COUNTED_COMMITS = 256;

/** Fills the indexes over sessions of an old state, and lets the search index catch up, in small steps between commits. */
export interface SessionIndexes {
  /** Called after commits; cheap. True when it is time to check whether something is due. */
  committed(commits: number): boolean;
  /** True when there is something to do at once. */
  due(): boolean;
  /** Makes all marked sessions due, however few. */
  catchUp(): void;
  step(): void;
}

const UNWORD = "INSERT INTO session_words (session_words, rowid, words, last) SELECT 'delete', n, words, last FROM session_search WHERE key = ?";
const SESSION = "SELECT key, agent_id AS agentId, session_id AS sessionId, version FROM sessions WHERE key = ?";
const SEARCH = `INSERT INTO session_search (key, agent_id, updated_at, channel, chat_type, label, spawned_by, words, last)
  SELECT key, agent_id, updated_at, channel, chat_type, label, spawned_by, ?, ? FROM sessions WHERE key = ?`;
const LIST = "INSERT OR IGNORE INTO session_list (agent_id, updated_at, key) SELECT agent_id, updated_at, key FROM sessions WHERE key = ?";

/** How far an index over the sessions of an old state is filled, by key; undefined when it is complete. */
type Filling = "sessions.listed" | "sessions.searched";

export function createSessionIndexes(db: DatabaseSync, sql: (text: string) => StatementSync): SessionIndexes {
  let uncounted = COUNTED_COMMITS;
  let wanted = false;

  const filledTo = (name: Filling): string | undefined => firstRow<{ value: string }>(sql("SELECT value FROM meta WHERE key = ?"), name)?.value;

  function search(key: string): void {
    sql(UNWORD).run(key);
    sql("DELETE FROM session_search WHERE key = ?").run(key);
    const session = firstRow<SessionRef>(sql(SESSION), key);
    if (session) {
      const { searchText, lastSearchText } = loadSearchText({ sql }, session);
      const { lastInsertRowid: n } = sql(SEARCH).run(searchText, lastSearchText, key);
      sql("INSERT INTO session_words (rowid, words, last) VALUES (?, ?, ?)").run(n, searchText, lastSearchText);
    }
    sql("DELETE FROM session_unsearched WHERE session_key = ?").run(key);
  }

  /** Processes keys until the time of a step is over; returns how many were done. */
  function each(keys: readonly string[], index: (key: string) => void): number {
    const started = performance.now();
    for (const [at, key] of keys.entries()) {
      index(key);
      if (performance.now() - started >= STEP_MS) return at + 1;
    }
    return keys.length;
  }

  function fill(name: Filling, from: string, index: (key: string) => void): void {
    const rows = sql("SELECT key FROM sessions WHERE key > ? ORDER BY key LIMIT ?").all(from, STEP_SESSIONS);
    const keys = rows.map(({ key }) => String(key));
    const done = each(keys, index);
    const last = keys[done - 1];
    if (last !== undefined) sql("UPDATE meta SET value = ? WHERE key = ?").run(last, name);
    else sql("DELETE FROM meta WHERE key = ?").run(name);
    // Once all are listed, nothing queries the index by time alone.
    if (done === 0 && name === "sessions.listed") sql("DROP INDEX IF EXISTS sessions_updated").run();
  }

  function stepOf(): void {
    for (const [name, index] of [
      ["sessions.listed", (key: string) => void sql(LIST).run(key)],
      ["sessions.searched", search],
    ] as const) {
      const from = filledTo(name);
      if (from === undefined) continue;
      fill(name, from, index);
      wanted = true;
      return;
    }
    const marked = sql("SELECT session_key AS key FROM session_unsearched LIMIT ?").all(STEP_SESSIONS);
    const done = each(
      marked.map(({ key }) => String(key)),
      search,
    );
    wanted = done < marked.length || marked.length === STEP_SESSIONS;
  }

  function hasMany(): boolean {
    if (filledTo("sessions.listed") !== undefined || filledTo("sessions.searched") !== undefined) return true;
    return numberOf(sql("SELECT count(*) FROM (SELECT 1 FROM session_unsearched LIMIT ?)"), FEW_MARKED) >= FEW_MARKED;
  }

  return {
    committed(commits) {
      uncounted += commits;
      return uncounted >= COUNTED_COMMITS;
    },
    catchUp() {
      wanted = true;
    },
    due() {
      if (wanted || uncounted < COUNTED_COMMITS) return wanted;
      uncounted = 0;
      wanted = hasMany();
      return wanted;
    },
    step: () => unsyncedTransaction(db, stepOf),
  };
}
