import { DOCUMENT_OF, type IndexDatabase } from "../storage/database.ts";
import { ROLES } from "../storage/passages.ts";
import { sessionPath } from "../types.ts";

/** A passage with where it is from. */
export interface ExportedPassage {
  readonly source: "memory" | "sessions";
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly role: string;
  readonly at?: string;
  readonly about?: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  readonly entryId?: string;
  readonly text: string;
}

interface Row {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly at: number | null;
  readonly role: number;
  readonly entry: string | null;
  readonly about: string | null;
  readonly text: string;
  readonly source: string;
  readonly path: string;
  readonly sessionId: string | null;
  readonly sessionKey: string | null;
}

const SELECT = `SELECT p.id, p.first, p.last, p.at, p.role, p.entry, p.about, p.text, d.source, d.path, d.session_id AS sessionId, d.session_key AS sessionKey
  FROM passages p JOIN documents d ON d.id = ${DOCUMENT_OF("p.id")} WHERE p.id > ? ORDER BY p.id LIMIT ?`;

/** A page of all passages; `next` continues. */
export function exportPassages(index: IndexDatabase, after: number, limit: number): { readonly passages: readonly ExportedPassage[]; readonly next?: number } {
  const rows = index.sql(SELECT).all(after, limit) as unknown as readonly Row[];
  const passages = rows.map((row): ExportedPassage => {
    const isSession = row.source === "sessions";
    return {
      source: isSession ? "sessions" : "memory",
      path: isSession ? sessionPath(row.path) : row.path,
      startLine: row.first,
      endLine: row.last,
      role: ROLES[row.role] ?? "note",
      ...(row.at === null ? {} : { at: new Date(row.at * 1000).toISOString() }),
      ...(row.about === null ? {} : { about: row.about }),
      ...(row.sessionId === null ? {} : { sessionId: row.sessionId }),
      ...(row.sessionKey === null ? {} : { sessionKey: row.sessionKey }),
      ...(row.entry === null ? {} : { entryId: row.entry }),
      text: row.text,
    };
  });
  const last = rows.at(-1);
  return { passages, ...(last && rows.length === limit ? { next: last.id } : {}) };
}
