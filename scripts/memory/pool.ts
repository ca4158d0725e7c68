/** Conversations with questions about them, in an index of their own: what the ranker is trained and judged on. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnalyser, type Analyser } from "../../src/memory/text/analyser.ts";
import { loadConcepts, type Concepts } from "../../src/memory/text/concepts.ts";
import { createIndex, type IndexDatabase } from "../../src/memory/storage/database.ts";
import { createPassages, type Passages } from "../../src/memory/storage/passages.ts";

interface Message {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly speaker?: string;
  readonly at: string;
  readonly text: string;
}

export interface Conversation {
  readonly sessionId: string;
  readonly title?: string;
  readonly messages: readonly Message[];
}

export interface Asked {
  readonly query: string;
  /** ISO time of the question. */
  readonly now: string;
  readonly expect: readonly { readonly sessionId: string; readonly entryId: string }[];
  readonly kind: string;
}

export interface Pool extends Disposable {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  readonly analyser: Analyser;
  readonly concepts: Concepts;
  readonly size: number;
  readonly textBytes: number;
  /** The number of a message's passage. */
  passageOf(sessionId: string, entryId: string): number | undefined;
}

const linesOf = <T>(file: string): T[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): T => JSON.parse(line));

export const readConversations = (file: string): readonly Conversation[] => linesOf<Conversation>(file);
export const readQuestions = (file: string): readonly Asked[] => linesOf<Asked>(file);

export function createPool(conversations: readonly Conversation[]): Pool {
  const folder = mkdtempSync(join(tmpdir(), "memory-pool-"));
  const index = createIndex(join(folder, "index.sqlite"), { chunkTokens: 400, chunkOverlap: 80 });
  const analyser = createAnalyser();
  const passages = createPassages(index, analyser);
  const ids = new Map<string, number>();
  let [size, textBytes] = [0, 0];
  for (const { sessionId, messages } of conversations) {
    index.transaction(() => {
      const document = Number(
        index.sql("INSERT INTO documents (source, path, session_id) VALUES ('sessions', ?, ?)").run(sessionId, sessionId).lastInsertRowid,
      );
      const rows = messages.map(({ id, role, speaker, at, text }, n) => {
        ids.set(`${sessionId} ${id}`, document * 2 ** 20 + n);
        textBytes += Buffer.byteLength(text);
        return { first: n + 2, last: n + 2, at: Math.floor(Date.parse(at) / 1000), role, entry: id, about: speaker ?? null, text };
      });
      passages.add({ id: document, language: "en", passages: 0 }, rows);
      passages.flush();
      size += rows.length;
    });
  }
  return {
    index,
    passages,
    analyser,
    concepts: loadConcepts(analyser),
    size,
    textBytes,
    passageOf: (sessionId, entryId) => ids.get(`${sessionId} ${entryId}`),
    [Symbol.dispose]() {
      index[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
