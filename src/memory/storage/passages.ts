import type { Analyser } from "../text/analyser.ts";
import { LANGUAGES, type Language } from "../text/languages.ts";
import { DOCUMENT_OF, MAX_POSITIONS, passageId, type IndexDatabase } from "./database.ts";

/** Who wrote a passage. */
export const ROLES = ["note", "user", "assistant"] as const;
export type Role = (typeof ROLES)[number];

/** What is searched: a message of a transcript, or some lines of a file. */
export interface Passage {
  /** First and last line, counted from 1. */
  readonly first: number;
  readonly last: number;
  /** Seconds since the epoch; null when unknown. */
  readonly at: number | null;
  readonly role: Role;
  /** The transcript entry. */
  readonly entry: string | null;
  /** Who said it in a group, or the headings above it. */
  readonly about: string | null;
  readonly text: string;
}

export interface StoredPassage extends Passage {
  readonly id: number;
  readonly language: Language;
}

interface Row {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly at: number | null;
  readonly role: number;
  readonly language: number;
  readonly entry: string | null;
  readonly about: string | null;
  readonly text: string;
}

const COLUMNS = "id, first, last, at, role, language, entry, about, text";

function fromRow(row: unknown): StoredPassage {
  const { role, language, ...rest } = row as Row;
  return { ...rest, role: ROLES[role] ?? "note", language: LANGUAGES[language] ?? "xx" };
}

type RowArray = readonly [
  id: number,
  first: number,
  last: number,
  at: number | null,
  role: number,
  language: number,
  entry: string | null,
  about: string | null,
  text: string,
];

/** A row as an array takes half the time of one as an object. */
function fromArray([id, first, last, at, role, language, entry, about, text]: RowArray): StoredPassage {
  return { id, first, last, at, role: ROLES[role] ?? "note", language: LANGUAGES[language] ?? "xx", entry, about, text };
}

/** Numbers as runs: one query for those that stand close together. */
function* runsOf(ids: readonly number[], margin: number): Generator<readonly [from: number, to: number]> {
  const sorted = ids.toSorted((a, b) => a - b);
  let [from, to] = [Number.NaN, Number.NaN];
  for (const id of sorted) {
    if (id <= to + 2 * margin + 1) {
      to = id;
      continue;
    }
    if (!Number.isNaN(from)) yield [from - margin, to + margin];
    [from, to] = [id, id];
  }
  if (!Number.isNaN(from)) yield [from - margin, to + margin];
}

/** The passages of an index and everything that is derived from them. */
export interface Passages {
  /** Adds passages at the end of a document; inside a transaction. Returns how many positions it has then. */
  add(
    document: { readonly id: number; readonly language: Language; readonly passages: number },
    added: readonly Passage[],
  ): { readonly language: Language; readonly passages: number };
  /** Removes passages of a document, all or those from a position on; inside a transaction. */
  remove(document: number, from?: number): number;
  /** Passages by their numbers; with a margin also those that stand so near to one of them. */
  get(ids: readonly number[], margin?: number): ReadonlyMap<number, StoredPassage>;
  /** Passages in a span of time, oldest first. */
  between(from: number, to: number, limit: number): readonly StoredPassage[];
  /** In how many passages each term occurs. */
  frequencies(terms: readonly string[]): ReadonlyMap<string, number>;
  count(): number;
  /** Writes what was counted; called before a transaction is committed. */
  flush(): void;
  /** Forgets what was counted; called when a transaction was undone. */
  reset(): void;
}

/** The terms of a passage's own text and of what it is about, as `words` holds them. */
function termsIn(
  analyser: Analyser,
  { text, about }: Pick<Passage, "text" | "about">,
  language: Language,
): { readonly body: readonly string[]; readonly about: readonly string[] } {
  return {
    body: analyser.analyse(text, { known: language }).terms,
    about: about === null ? [] : analyser.analyse(about, { known: language }).terms,
  };
}

/** `removed` is called with each passage that is removed. */
export function createPassages(index: IndexDatabase, analyser: Analyser, removed?: (id: number) => void): Passages {
  const changes = new Map<string, number>();
  let total: number | undefined;

  function countTerms(body: readonly string[], by: 1 | -1): void {
    for (const term of new Set(body)) changes.set(term, (changes.get(term) ?? 0) + by);
  }

  /** The passages of some runs, in one query: for a hundred runs that takes two thirds of the time of one query each. */
  function inRuns(runs: readonly (readonly [from: number, to: number])[]): readonly StoredPassage[] {
    const columns = COLUMNS.replaceAll(/\w+/g, "passages.$&");
    const find = index.sql(`SELECT ${columns} FROM json_each(?) AS run CROSS JOIN passages WHERE passages.id BETWEEN run.value ->> 0 AND run.value ->> 1`);
    find.setReturnArrays(true);
    const rows: unknown[] = find.all(JSON.stringify(runs));
    return (rows as RowArray[]).map(fromArray);
  }

  return {
    add(document, added) {
      const insert = index.sql(`INSERT INTO passages (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
      const post = index.sql("INSERT INTO words (rowid, body, about) VALUES (?, ?, ?)");
      let { language, passages } = document;
      for (const passage of added) {
        if (passages >= MAX_POSITIONS) break;
        const id = passageId(document.id, passages);
        const analysed = analyser.analyse(passage.text, { fallback: language });
        language = analysed.language;
        const about = passage.about === null ? [] : analyser.analyse(passage.about, { known: language }).terms;
        const { first, last, at, role, entry, text } = passage;
        insert.run(id, first, last, at, ROLES.indexOf(role), LANGUAGES.indexOf(language), entry, passage.about, text);
        post.run(id, analysed.terms.join(" "), about.join(" "));
        countTerms(analysed.terms, 1);
        passages += 1;
      }
      if (total !== undefined) total += passages - document.passages;
      return { language, passages };
    },
    remove(document, from = 0) {
      const rows = inRuns([[passageId(document, from), passageId(document, MAX_POSITIONS - 1)]]);
      const unpost = index.sql("INSERT INTO words (words, rowid, body, about) VALUES ('delete', ?, ?, ?)");
      const remove = index.sql("DELETE FROM passages WHERE id = ?");
      const removeVector = index.sql("DELETE FROM vectors WHERE passage = ?");
      for (const passage of rows) {
        const terms = termsIn(analyser, passage, passage.language);
        unpost.run(passage.id, terms.body.join(" "), terms.about.join(" "));
        countTerms(terms.body, -1);
        remove.run(passage.id);
        removeVector.run(passage.id);
        removed?.(passage.id);
      }
      if (total !== undefined) total -= rows.length;
      return rows.length;
    },
    get: (ids, margin = 0) => new Map(inRuns([...runsOf(ids, margin)]).map((passage) => [passage.id, passage])),
    between: (from, to, limit) => index.sql(`SELECT ${COLUMNS} FROM passages WHERE at BETWEEN ? AND ? ORDER BY at LIMIT ?`).all(from, to, limit).map(fromRow),
    frequencies(terms) {
      const find = index.sql("SELECT n FROM terms WHERE term = ?");
      return new Map(terms.map((term) => [term, Number(find.get(term)?.["n"] ?? 0)]));
    },
    count: () => (total ??= Number(index.sql("SELECT count(*) AS n FROM passages").get()?.["n"] ?? 0)),
    flush() {
      const up = index.sql("INSERT INTO terms (term, n) VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET n = n + excluded.n");
      const drop = index.sql("DELETE FROM terms WHERE term = ? AND n <= 0");
      for (const [term, by] of changes) {
        if (by !== 0) up.run(term, by);
        if (by < 0) drop.run(term);
      }
      changes.clear();
    },
    reset() {
      changes.clear();
      total = undefined;
    },
  };
}

/** The condition that a passage belongs to one of the documents in the temporary table `allowed`. */
export const IN_ALLOWED = (column: string): string => `${DOCUMENT_OF(column)} IN (SELECT id FROM allowed)`;
