/**
 * Writes without end until it is killed. Each writer of the process appends numbered entries to a transcript of its own, each together with an
 * inbox row in one commit, and says so on standard output only after the store did.
 *   node writer.ts <store module url> <state folder> <writers>
 */
import { systemClock } from "../../src/base/clock.ts";
import type * as StoreModule from "../../src/store/index.ts";
import { sayLine } from "../harness/say-line.ts";

const [storeUrl, stateDir, writers] = process.argv.slice(2);
const { openStore } = (await import(storeUrl!)) as typeof StoreModule;
const store = await openStore({ stateDir: stateDir!, clock: systemClock });

async function write(writer: number): Promise<never> {
  const file = `agents/main/sessions/writer-${writer}.jsonl`;
  const header = JSON.stringify({ type: "session", version: 3, id: `writer-${writer}`, timestamp: "2026-01-01T00:00:00.000Z" });
  const { transcript } = await store.write("transcripts.ensure", { file, agentId: "main", sessionId: `writer-${writer}`, header });
  let leaf = transcript.leafId;
  for (let n = transcript.lines; ; n += 1) {
    const id = n.toString(16).padStart(8, "0");
    const line = JSON.stringify({ type: "message", id, parentId: leaf, n, text: "ü".repeat(n % 90) });
    await store.commit([
      ["inbox.accept", { channel: "chaos", account: "default", conversation: String(writer), messageId: String(n), kind: "message", text: line }],
      ["transcripts.append", { file, entries: [{ id, parentId: leaf, type: "message", line }], expectLeaf: leaf }],
    ]);
    leaf = id;
    sayLine(`${writer} ${n}`);
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)));
