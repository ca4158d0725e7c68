/**
 * Writes without end until it is refused, stopped (SIGTERM) or killed. Each writer appends numbered entries to a transcript of its own, each
 * together with an inbox row in one commit, and says so on standard output only after the store did. At the end it says how it ended, as JSON.
 *   node writer.ts <store module url> <state folder> <writers> [bytes of text per entry]
 * Exit code: 0 when it was stopped, 1 when the store failed, 2 when the store could not be opened.
 */
import { systemClock } from "../../src/base/clock.ts";
import type { AppError } from "../../src/base/errors.ts";
import type * as StoreModule from "../../src/store/index.ts";
import { sayLine } from "../harness/say-line.ts";
import type { WriterEnd } from "./writing.ts";

const [storeUrl, stateDir, writers, bytes = "40"] = process.argv.slice(2);
const { openStore } = (await import(storeUrl!)) as typeof StoreModule;
/** Errors of the bundle are of its own class; their code is what counts. */
const codeOf = (error: unknown): string => (error as AppError).code ?? String(error);

async function codeOfWrite(store: StoreModule.Store): Promise<string> {
  return store.write("meta.set", { key: "late", value: 1 }).then(() => "acknowledged", codeOf);
}

/** A failed store still answers. Long enough for work that was put off to show: none of it may touch the disk any more. */
async function readOn(store: StoreModule.Store): Promise<void> {
  for (const end = performance.now() + 500; performance.now() < end;) await store.read("inbox.counts", {});
}

async function run(store: StoreModule.Store): Promise<number> {
  const refused: Record<string, number> = {};
  const messages = new Set<string>();
  let stopping: number | undefined;

  async function write(writer: number): Promise<void> {
    const file = `agents/main/sessions/writer-${writer}.jsonl`;
    const header = JSON.stringify({ type: "session", version: 3, id: `writer-${writer}`, timestamp: "2026-01-01T00:00:00.000Z" });
    const { transcript } = await store.write("transcripts.ensure", { file, agentId: "main", sessionId: `writer-${writer}`, header });
    let leaf = transcript.leafId;
    for (let n = transcript.lines; ; n += 1) {
      const id = n.toString(16).padStart(8, "0");
      const line = JSON.stringify({ type: "message", id, parentId: leaf, n, text: "x".repeat(Number(bytes)) });
      await store.commit([
        [
          "inbox.accept",
          { id: `${writer}-${n}`, channel: "chaos", account: "default", conversation: String(writer), messageId: String(n), kind: "message", text: line },
        ],
        ["transcripts.append", { file, entries: [{ id, parentId: leaf, type: "message", line }], expectLeaf: leaf }],
      ]);
      leaf = id;
      sayLine(`${writer} ${n}`);
    }
  }

  const closing = Promise.withResolvers<void>();
  process.once("SIGTERM", () => {
    stopping = performance.now();
    closing.resolve(store[Symbol.asyncDispose]());
  });
  const all = Array.from({ length: Number(writers) }, (_, writer) =>
    write(writer).catch((error: unknown) => {
      refused[codeOf(error)] = (refused[codeOf(error)] ?? 0) + 1;
      messages.add((error as Error).message);
    }),
  );
  await Promise.all(all);
  const { state, failure, diskFull } = store.health();
  if (stopping === undefined) {
    closing.resolve();
    await readOn(store);
  }
  const late = await codeOfWrite(store);
  await closing.promise;
  await store[Symbol.asyncDispose]();
  const end: WriterEnd = {
    refused,
    messages: [...messages],
    late,
    state,
    failure,
    diskFull,
    closeMs: stopping === undefined ? 0 : performance.now() - stopping,
  };
  sayLine(`end ${JSON.stringify(end)}`);
  return stopping === undefined ? 1 : 0;
}

let store: StoreModule.Store;
try {
  store = await openStore({ stateDir: stateDir!, clock: systemClock });
} catch (error) {
  process.stderr.write(`${codeOf(error)}: ${(error as Error).message}\n`);
  process.exit(2);
}
process.exitCode = await run(store);
