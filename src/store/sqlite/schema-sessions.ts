/**
 * Indexes over sessions that are tables, so that those of an old state can be filled after its start in small steps: a native SQLite index is built
 * at
 * once, and reads every entry for it. Triggers keep them up to date for every writer.
 */

/** Sessions by agent and time, and how many there are. An update moves a row, so that a turn does not touch the counts. */
export const SESSION_LISTS = `
CREATE TABLE session_list (agent_id TEXT NOT NULL, updated_at INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (agent_id, updated_at, key)) WITHOUT ROWID;
CREATE TABLE session_counts (agent_id TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TRIGGER session_listed AFTER INSERT ON sessions BEGIN
  INSERT INTO session_list (agent_id, updated_at, key) VALUES (NEW.agent_id, NEW.updated_at, NEW.key);
END;
CREATE TRIGGER session_moved AFTER UPDATE OF key, agent_id, updated_at ON sessions
  WHEN OLD.updated_at <> NEW.updated_at OR OLD.key <> NEW.key OR OLD.agent_id <> NEW.agent_id BEGIN
  UPDATE session_list SET agent_id = NEW.agent_id, updated_at = NEW.updated_at, key = NEW.key
    WHERE agent_id = OLD.agent_id AND updated_at = OLD.updated_at AND key = OLD.key;
END;
CREATE TRIGGER session_unlisted AFTER DELETE ON sessions BEGIN
  DELETE FROM session_list WHERE agent_id = OLD.agent_id AND updated_at = OLD.updated_at AND key = OLD.key;
END;
CREATE TRIGGER session_counted AFTER INSERT ON session_list BEGIN
  INSERT INTO session_counts (agent_id, n) VALUES (NEW.agent_id, 1) ON CONFLICT (agent_id) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER session_uncounted AFTER DELETE ON session_list BEGIN
  UPDATE session_counts SET n = n - 1 WHERE agent_id = OLD.agent_id;
END;
CREATE TRIGGER session_recounted AFTER UPDATE OF agent_id ON session_list WHEN OLD.agent_id <> NEW.agent_id BEGIN
  UPDATE session_counts SET n = n - 1 WHERE agent_id = OLD.agent_id;
  INSERT INTO session_counts (agent_id, n) VALUES (NEW.agent_id, 1) ON CONFLICT (agent_id) DO UPDATE SET n = n + 1;
END;
INSERT INTO meta (key, value) SELECT 'sessions.listed', '' WHERE EXISTS (SELECT 1 FROM sessions);
INSERT INTO meta (key, value) SELECT 'sessions.searched', '' WHERE EXISTS (SELECT 1 FROM sessions);
`;

const mark = (when: string, keys: string): string => `CREATE TRIGGER ${when} BEGIN
  INSERT INTO session_unsearched (session_key) ${keys};
END;`;
const one = (key: string): string => `SELECT ${key} WHERE NOT EXISTS (SELECT 1 FROM session_unsearched WHERE session_key = ${key})`;
const ofTranscript = (row: "NEW" | "OLD"): string => `SELECT key FROM sessions WHERE session_id = ${row}.session_id
  AND NOT EXISTS (SELECT 1 FROM session_unsearched WHERE session_key = key)`;

/**
 * `session_search` holds the text by which a session was indexed, `session_words` its trigrams. A change to a session or its transcript marks the
 * session as unsearched: it is then searched directly until the index has caught up. A turn marks its session once, so the following turns write
 * nothing.
 */
export const SESSION_SEARCH: string = `
CREATE TABLE session_search (
  n INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  channel TEXT,
  chat_type TEXT,
  label TEXT,
  spawned_by TEXT,
  words TEXT NOT NULL,
  last TEXT NOT NULL
);
CREATE TABLE session_unsearched (session_key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE session_words USING fts5(words, last, content = 'session_search', content_rowid = 'n', tokenize = 'trigram case_sensitive 1');
${mark("session_made AFTER INSERT ON sessions", one("NEW.key"))}
${mark("session_changed AFTER UPDATE ON sessions", one("NEW.key"))}
${mark("session_renamed AFTER UPDATE OF key ON sessions WHEN OLD.key <> NEW.key", one("OLD.key"))}
${mark("session_deleted AFTER DELETE ON sessions", one("OLD.key"))}
${mark("session_said AFTER UPDATE OF next_seq, leaf_id, archived_at ON transcripts", ofTranscript("NEW"))}
${mark("session_transcript_made AFTER INSERT ON transcripts", ofTranscript("NEW"))}
${mark("session_transcript_deleted AFTER DELETE ON transcripts", ofTranscript("OLD"))}
`;

const MARKED = "(NEW.entry ->> '$.pinnedAt') IS NOT NULL OR (NEW.entry ->> '$.archivedAt') IS NOT NULL";
const markOf = `DELETE FROM session_marks WHERE session_key = NEW.key;
  INSERT INTO session_marks (session_key, pinned_at, archived_at)
    SELECT NEW.key, NEW.entry ->> '$.pinnedAt', NEW.entry ->> '$.archivedAt' WHERE ${MARKED};`;

/** Few sessions are pinned or archived: a turn in any other writes nothing about it. */
export const SESSION_MARKS = `
CREATE TABLE session_marks (session_key TEXT PRIMARY KEY, pinned_at INTEGER, archived_at INTEGER) WITHOUT ROWID;
CREATE TRIGGER session_marked AFTER INSERT ON sessions WHEN ${MARKED} BEGIN
  ${markOf}
END;
CREATE TRIGGER session_remarked AFTER UPDATE OF entry, key ON sessions
  WHEN (NEW.entry ->> '$.pinnedAt') IS NOT (OLD.entry ->> '$.pinnedAt') OR (NEW.entry ->> '$.archivedAt') IS NOT (OLD.entry ->> '$.archivedAt')
    OR OLD.key <> NEW.key BEGIN
  DELETE FROM session_marks WHERE session_key = OLD.key;
  ${markOf}
END;
CREATE TRIGGER session_unmarked AFTER DELETE ON sessions BEGIN
  DELETE FROM session_marks WHERE session_key = OLD.key;
END;
CREATE TABLE deleted_sessions (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  entry TEXT NOT NULL,
  extensions TEXT NOT NULL,
  deleted_at INTEGER NOT NULL
) WITHOUT ROWID;
`;

const FOLDER = "(NEW.entry ->> '$.folder')";
const IN_FOLDER = `typeof(${FOLDER}) = 'text' AND ${FOLDER} <> ''`;
const fileIt = `INSERT OR REPLACE INTO session_folders (session_key, folder) SELECT NEW.key, ${FOLDER} WHERE ${IN_FOLDER};`;

/** Which folder of the list a session is in. Most are in none, and a turn in any writes nothing about it. */
export const SESSION_FOLDERS = `
CREATE TABLE session_folders (session_key TEXT PRIMARY KEY, folder TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER session_filed AFTER INSERT ON sessions WHEN ${IN_FOLDER} BEGIN
  ${fileIt}
END;
CREATE TRIGGER session_refiled AFTER UPDATE OF entry, key ON sessions
  WHEN ${FOLDER} IS NOT (OLD.entry ->> '$.folder') OR OLD.key <> NEW.key BEGIN
  DELETE FROM session_folders WHERE session_key = OLD.key;
  ${fileIt}
END;
CREATE TRIGGER session_unfiled AFTER DELETE ON sessions BEGIN
  DELETE FROM session_folders WHERE session_key = OLD.key;
END;
`;

/**
 * The content of each `sessions.json` (`session_files`), and which state of each session it has (`session_projected`), so that changes by other
 * programs are recognized.
 */
export const SESSION_FILES = `
CREATE TABLE session_files (
  n INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  mtime REAL NOT NULL,
  digest TEXT NOT NULL,
  own INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  next_digest TEXT,
  sessions INTEGER NOT NULL,
  newest INTEGER NOT NULL
);
CREATE TABLE session_projected (
  file INTEGER NOT NULL,
  key TEXT NOT NULL,
  written_as TEXT,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  pass INTEGER NOT NULL,
  PRIMARY KEY (file, key)
) WITHOUT ROWID;
`;
