import type { RecordsCursor, RecordsResult } from "../../../src/store/index.ts";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FILE, HEADER, delivery, entry, message, type World } from "./world.ts";

const SECRET = "the code is CANARY-58213";

/** Files below a folder that contain a text. */
function holding(folder: string, text: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => statSync(join(folder, name)).isFile() && readFileSync(join(folder, name)).includes(text));
}

/** Texts that are overwritten: what their owner had removed is nowhere any more. */
export function redaction(world: World): void {
  const begin = async (): Promise<void> => {
    await world.store().write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: HEADER });
    await world.store().write("transcripts.append", { file: FILE, entries: [entry("a", null), entry("b", "a", SECRET), entry("c", "b", "fine")] });
  };
  const removed = entry("b", "a", "[removed]");

  test("a line of a transcript is overwritten in the database, its log and its file; the others stay", async () => {
    await begin();
    const store = world.store();
    await store.write("sessions.put", { key: "agent:main:main", agentId: "main", entry: { sessionId: "s1", updatedAt: 5 } });
    await store.write("transcripts.redact", { file: FILE, seq: 2, id: "b", line: removed.line });
    await store.checkpoint({ truncate: true });
    const lines = [HEADER, entry("a", null).line, removed.line, entry("c", "b", "fine").line];
    expect((await store.read("transcripts.page", { file: FILE, limit: 10 })).map((row) => row.line)).toEqual(lines);
    const bytes = Buffer.byteLength(`${lines.join("\n")}\n`);
    expect(await store.read("transcripts.get", { file: FILE })).toMatchObject({ lines: 4, leafId: "c", bytes });
    expect(holding(world.folder, "CANARY")).toEqual([]);
    expect(readFileSync(join(world.folder, FILE), "utf8")).toBe(`${lines.join("\n")}\n`);
    // It goes on as before.
    await store.write("transcripts.append", { file: FILE, entries: [entry("d", "c", "more")] });
    const again = await world.reopen();
    expect(await again.read("transcripts.path", { file: FILE })).toHaveLength(4);
    await expect.poll(() => readFileSync(join(world.folder, FILE), "utf8").trimEnd().split("\n")).toEqual([...lines, entry("d", "c", "more").line]);
    expect(readdirSync(join(world.folder, "agents/main/sessions")).filter((name) => name.includes(".bak"))).toEqual([]);
  });

  test("overwriting and appending in one commit leaves a complete file", async () => {
    await begin();
    const store = world.store();
    await store.commit([
      ["transcripts.redact", { file: FILE, seq: 2, id: "b", line: removed.line }],
      ["transcripts.append", { file: FILE, entries: [entry("d", "c")] }],
      ["transcripts.redact", { file: FILE, seq: 3, id: "c", line: entry("c", "b", "[removed]").line }],
    ]);
    const again = await world.reopen();
    const lines = (await again.read("transcripts.page", { file: FILE, limit: 10 })).map((row) => row.line);
    expect(readFileSync(join(world.folder, FILE), "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(again.health().notices).toEqual([]);
  });

  test("a line that is another one by now, or of no transcript, is refused, and nothing is lost", async () => {
    await begin();
    const store = world.store();
    await expect(store.write("transcripts.redact", { file: FILE, seq: 2, id: "a", line: "{}" })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.write("transcripts.redact", { file: FILE, seq: 9, id: "b", line: "{}" })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.write("transcripts.redact", { file: "agents/main/sessions/no.jsonl", seq: 1, id: "b", line: "{}" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(store.write("transcripts.redact", { file: FILE, seq: 2, id: "b", line: "{}\n{}" })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await store.read("transcripts.page", { file: FILE, limit: 10 })).toHaveLength(4);
    await world.reopen();
    expect(readFileSync(join(world.folder, FILE), "utf8")).toContain(SECRET);
  });

  test("texts of an agent's working records are overwritten in any case and spacing, those of another agent stay", async () => {
    const store = world.store();
    const input = { agentId: "main", texts: ["Code  is canary-58213"] };
    await store.write("inbox.accept", message({ messageId: "m1", text: `Look: ${SECRET}`, agentId: "main", payload: { quoted: SECRET, keep: "this" } }));
    await store.write("inbox.accept", message({ messageId: "m2", text: SECRET, agentId: "other", sessionKey: "agent:other:main" }));
    await store.write("turns.start", { id: "t1", sessionKey: "agent:main:main", agentId: "main", detail: { asked: SECRET } });
    await store.write("journal.append", {
      turnId: "t1",
      kind: "model.result",
      data: {
        content: [
          { type: "text", text: SECRET },
          { type: "text", text: "kept" },
        ],
      },
    });
    await store.write("outbox.add", { rows: [delivery({ payload: { text: `so ${SECRET}.` }, sessionKey: "agent:main:main" })] });
    expect(await store.read("records.matching", input)).toEqual({ records: 4 });
    expect(await store.write("records.redact", input)).toEqual({ records: 4 });
    await store.checkpoint({ truncate: true });
    expect(await store.read("records.matching", input)).toEqual({ records: 0 });
    const [first, second] = [await store.read("inbox.get", { id: 1 }), await store.read("inbox.get", { id: 2 })];
    expect(first).toMatchObject({ text: "[removed]", payload: { quoted: "[removed]", keep: "this" } });
    expect(second).toMatchObject({ text: SECRET });
    const [step] = await store.read("journal.steps", { turnId: "t1" });
    expect(step?.data).toEqual({
      content: [
        { type: "text", text: "[removed]" },
        { type: "text", text: "kept" },
      ],
    });
    expect(await store.write("records.redact", { agentId: "other", texts: [SECRET] })).toEqual({ records: 1 });
    await store.checkpoint({ truncate: true });
    expect(holding(world.folder, "CANARY")).toEqual([]);
    expect(await store.write("records.redact", { agentId: "main", texts: ["", "  "] })).toEqual({ records: 0 });
  });

  test("records are looked at some rows at a time: every one is found once, also with keys of several parts, and others write in between", async () => {
    const store = world.store();
    for (let n = 0; n < 25; n += 1)
      await store.write("inbox.accept", message({ messageId: `m${n}`, text: n % 2 === 0 ? `${SECRET} ${n}` : `harmless ${n}`, agentId: "main" }));
    await store.write("turns.start", { id: "t1", sessionKey: "agent:main:main", agentId: "main", detail: {} });
    for (let n = 0; n < 20; n += 1) await store.write("journal.append", { turnId: "t1", kind: "note", data: { n, text: n % 4 === 0 ? SECRET : "kept" } });
    const each = async (look: (from: RecordsCursor | undefined) => Promise<RecordsResult>): Promise<readonly number[]> => {
      const counts: number[] = [];
      for (let from: RecordsCursor | undefined; ;) {
        const { records, next } = await look(from);
        counts.push(records);
        if (!next) return counts;
        from = next;
        await store.write("meta.set", { key: "in-between", value: counts.length });
      }
    };
    const input = { agentId: "main", texts: [SECRET], rows: 6 };
    const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
    const found = await each((from) => store.read("records.matching", { ...input, from }));
    expect(sum(found)).toBe(13 + 5);
    expect(found.length).toBeGreaterThan(6);
    expect(Math.max(...found)).toBeLessThanOrEqual(6);
    expect(sum(await each((from) => store.write("records.redact", { ...input, from })))).toBe(18);
    expect(sum(await each((from) => store.read("records.matching", { ...input, from })))).toBe(0);
    expect(await store.read("inbox.get", { id: 2 })).toMatchObject({ text: "harmless 1" });
  });
}
