import type { IndexDatabase } from "../storage/database.ts";
import { positionOf } from "../storage/database.ts";
import type { StoredPassage } from "../storage/passages.ts";
import type { Analyser } from "../text/analyser.ts";
import { sessionPath, type ContextLine, type SearchHit, type Source } from "../types.ts";
import type { WeightedTerm } from "./candidates.ts";

/** Longest snippet, as documented. */
const SNIPPET = 700;
const CONTEXT = 240;

export interface DocumentFacts {
  readonly id: number;
  readonly source: Source;
  /** Of a transcript: its file, relative to the state folder. */
  readonly path: string;
  readonly sessionKey: string | null;
  readonly sessionId: string | null;
  readonly mtime: number | null;
  readonly size: number | null;
}

export function factsOf(index: IndexDatabase, document: number): DocumentFacts | undefined {
  const text = "SELECT id, source, path, session_key AS sessionKey, session_id AS sessionId, mtime, size FROM documents WHERE id = ?";
  return index.sql(text).get(document) as DocumentFacts | undefined;
}

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`);

/** The lines of a passage that have most of the question, as many as fit into a snippet. */
function bestLines(
  passage: StoredPassage,
  terms: readonly WeightedTerm[],
  analyser: Analyser,
): { readonly first: number; readonly last: number; readonly text: string } {
  const lines = passage.text.split("\n");
  if (passage.text.length <= SNIPPET || lines.length === 1) return { first: passage.first, last: passage.last, text: cut(passage.text, SNIPPET) };
  const values = lines.map((line) => {
    const stems = new Set(analyser.analyse(line, { known: passage.language }).terms);
    return terms.reduce(
      (sum, term) => sum + (term.stems.some((stem) => stems.has(stem)) ? term.idf : term.related.some((stem) => stems.has(stem)) ? term.idf / 2 : 0),
      0.01,
    );
  });
  let best = { from: 0, to: 0, value: -1 };
  for (let from = 0; from < lines.length; from += 1) {
    let [size, value] = [0, 0];
    for (let to = from; to < lines.length; to += 1) {
      size += (lines[to]?.length ?? 0) + 1;
      if (size > SNIPPET && to > from) break;
      value += values[to] ?? 0;
      if (value > best.value) best = { from, to, value };
    }
  }
  return { first: passage.first + best.from, last: passage.first + best.to, text: cut(lines.slice(best.from, best.to + 1).join("\n"), SNIPPET) };
}

function contextLine(passage: StoredPassage | undefined): ContextLine | undefined {
  if (!passage) return undefined;
  return { role: passage.role, ...(passage.about === null ? {} : { speaker: passage.about }), text: cut(passage.text, CONTEXT) };
}

export interface Presenting {
  readonly analyser: Analyser;
  readonly terms: readonly WeightedTerm[];
  readonly at: (id: number) => StoredPassage | undefined;
}

/** A passage as it is shown, with what stands beside it. */
export function present(passage: StoredPassage, document: DocumentFacts, score: number, { analyser, terms, at }: Presenting): SearchHit {
  const when = passage.at === null ? {} : { at: new Date(passage.at * 1000).toISOString() };
  if (document.source === "memory") {
    const { first, last, text } = bestLines(passage, terms, analyser);
    return {
      path: document.path,
      startLine: first,
      endLine: last,
      score,
      snippet: text,
      source: "memory",
      ...when,
      ...(passage.about === null ? {} : { heading: passage.about }),
    };
  }
  const position = positionOf(passage.id);
  const [before, after] = [position === 0 ? undefined : contextLine(at(passage.id - 1)), contextLine(at(passage.id + 1))];
  return {
    path: sessionPath(document.path),
    startLine: passage.first,
    endLine: passage.last,
    score,
    snippet: cut(passage.text, SNIPPET),
    source: "sessions",
    ...when,
    role: passage.role === "assistant" ? "assistant" : "user",
    ...(passage.about === null ? {} : { speaker: passage.about }),
    ...(document.sessionId === null ? {} : { sessionId: document.sessionId }),
    ...(document.sessionKey === null ? {} : { sessionKey: document.sessionKey }),
    ...(passage.entry === null ? {} : { entryId: passage.entry }),
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
  };
}
