import type { DatabaseSync } from "node:sqlite";

/*
 * What a turn writes is pages, not rows: each index is one page more, and a table or an index in the order of random ids a different page each time.
 * - Turns lie in the order in which they began, with a number; their ids, which clients choose, are an index. Rows are long, and long rows that are put
 *   between others move their neighbours to other pages.
 * - What retention deletes stands at the beginning of inbox and turns: there is no index by the time of the end.
 * - A client's message mostly has a turn of its own, named after it: it is found by its message id, which has an index already.
 * - The history of a chat is read for channels only.
 * - Sessions by time come from `session_list` once that is filled.
 * Programs of before this version find the same columns and rows, some of them more slowly.
 */
export const TURN_IS_OTHER = "turn_id <> message_id";
export const OF_CHANNEL = "channel <> 'gateway'";

const COLUMNS = "id, session_key, agent_id, state, outcome, why, resumptions, next_step, started_at, touched_at, ended_at, detail";
/** More turns than this keep their order: rewriting them all would delay the start. */
const MOST_MOVED = 20_000;

const MOVE_TURNS = `
ALTER TABLE turns RENAME TO turns_before;
DROP INDEX turns_running;
DROP INDEX turns_session;
DROP INDEX turns_ended;
CREATE TABLE turns (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
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
);
INSERT INTO turns (${COLUMNS}) SELECT ${COLUMNS} FROM turns_before ORDER BY started_at, id;
DROP TABLE turns_before;
CREATE INDEX turns_running ON turns (started_at) WHERE state = 'running';
CREATE INDEX turns_session ON turns (session_key, started_at);
`;

/** How retention finds turns that ended: in their order, or by an index in a state that had too many to reorder. */
export const areTurnsInOrder = (sql: (text: string) => { get(): unknown }): boolean =>
  sql("SELECT 1 FROM sqlite_schema WHERE name = 'turns_ended'").get() === undefined;

export function leanTables(db: DatabaseSync): void {
  db.exec(`
    DROP INDEX inbox_turn;
    DROP INDEX inbox_place;
    DROP INDEX inbox_settled;
    CREATE INDEX inbox_turn ON inbox (turn_id) WHERE ${TURN_IS_OTHER};
    CREATE INDEX inbox_place ON inbox (channel, account, conversation, id) WHERE ${OF_CHANNEL};
  `);
  if (!db.prepare("SELECT 1 FROM turns LIMIT 1 OFFSET ?").get(MOST_MOVED)) db.exec(MOVE_TURNS);
  if (!db.prepare("SELECT 1 FROM meta WHERE key = 'sessions.listed'").get()) db.exec("DROP INDEX IF EXISTS sessions_updated");
}
