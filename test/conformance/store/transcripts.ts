import { expect, test } from "vitest";
import { seededRandom } from "../../../src/base/random.ts";
import { FILE, HEADER, entry, type World } from "./world.ts";

export function transcripts(world: World): void {
  const ensure = () => world.store().write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "s1", header: HEADER });

  test("a transcript begins with its header and takes lines in order, to the byte", async () => {
    expect(await ensure()).toMatchObject({ created: true, transcript: { lines: 1, leafId: null } });
    expect(await ensure()).toMatchObject({ created: false });
    const store = world.store();
    const lines = [entry("a", null), entry("b", "a", "😀"), entry("c", "b")];
    const bytes = [HEADER, ...lines.map((one) => one.line)].reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    expect(await store.write("transcripts.append", { file: FILE, entries: lines.slice(0, 2) })).toMatchObject({ firstSeq: 1, lastSeq: 2 });
    expect(await store.write("transcripts.append", { file: FILE, entries: lines.slice(2) })).toEqual({ firstSeq: 3, lastSeq: 3, bytes });
    const again = await world.reopen();
    expect(await again.read("transcripts.get", { file: FILE })).toMatchObject({ lines: 4, bytes, leafId: "c", sessionId: "s1" });
    expect((await again.read("transcripts.page", { file: FILE, limit: 10 })).map((row) => row.line)).toEqual([HEADER, ...lines.map((one) => one.line)]);
    expect(await again.read("transcripts.ofSession", { agentId: "main", sessionId: "s1" })).toHaveLength(1);
  });

  test("messages are counted, of the newest transcript of a session and after it was put away", async () => {
    await ensure();
    const store = world.store();
    const counted = (sessionId = "s1") => store.read("transcripts.messages", { agentId: "main", sessionId });
    expect(await counted()).toBe(0);
    const note = { id: "n", parentId: "b", type: "custom", line: JSON.stringify({ type: "custom", id: "n" }) };
    await store.write("transcripts.append", { file: FILE, entries: [entry("a", null), entry("b", "a"), note] });
    expect(await counted()).toBe(2);
    await store.write("transcripts.archive", { file: FILE, reason: "reset" });
    expect(await counted()).toBe(2);
    await ensure();
    await store.write("transcripts.append", { file: FILE, entries: [entry("c", null)] });
    expect(await counted()).toBe(1);
    expect(await counted("other")).toBe(0);
  });

  test("positions of the branch in use are those of its way, whatever lies between", async () => {
    await ensure();
    const store = world.store();
    const random = seededRandom(3);
    const ids: string[] = [];
    const entries = Array.from({ length: 3000 }, (_, n) => {
      // Mostly a chain, now and then a branch from somewhere before.
      const parent = n === 0 ? null : random.float() < 0.01 ? ids[Math.floor(random.float() * n)]! : ids[n - 1]!;
      ids.push(`e${n}`);
      return entry(`e${n}`, parent);
    });
    await store.write("transcripts.append", { file: FILE, entries });
    const way = (await store.read("transcripts.path", { file: FILE })).map(({ seq }) => seq);
    const positions = (after: number, limit = 10_000) => store.read("transcripts.positions", { file: FILE, after, limit });
    expect(await positions(0)).toEqual(way);
    for (const after of [1, 17, way[Math.floor(way.length / 2)]!, 2990, 3000, 9999]) expect(await positions(after)).toEqual(way.filter((seq) => seq > after));
    expect(await positions(way[3]!, 5)).toEqual(way.slice(4, 9));
    expect(await store.read("transcripts.positions", { file: "agents/main/sessions/none.jsonl", after: 0, limit: 5 })).toEqual([]);
    // An id that is there twice means the later line.
    await store.write("transcripts.append", { file: FILE, entries: [entry("e2999", null), entry("end", "e2999")] });
    expect(await positions(0)).toEqual((await store.read("transcripts.path", { file: FILE })).map(({ seq }) => seq));
  });

  test("pages go forwards and backwards, a tail comes in file order", async () => {
    await ensure();
    const store = world.store();
    await store.write("transcripts.append", { file: FILE, entries: Array.from({ length: 20 }, (_, n) => entry(`e${n}`, n ? `e${n - 1}` : null)) });
    const seqs = (rows: readonly { seq: number }[]) => rows.map((row) => row.seq);
    expect(seqs(await store.read("transcripts.page", { file: FILE, after: 3, limit: 3 }))).toEqual([4, 5, 6]);
    expect(seqs(await store.read("transcripts.page", { file: FILE, before: 3, limit: 2 }))).toEqual([1, 2]);
    expect(seqs(await store.read("transcripts.page", { file: FILE, after: 3, before: 6, limit: 9 }))).toEqual([4, 5]);
    expect(seqs(await store.read("transcripts.tail", { file: FILE, limit: 3 }))).toEqual([18, 19, 20]);
    expect(seqs(await store.read("transcripts.tail", { file: FILE, limit: 100 }))).toHaveLength(20);
    expect(await store.read("transcripts.entry", { file: FILE, id: "e4" })).toMatchObject({ seq: 5, parentId: "e3" });
    expect(await store.read("transcripts.entry", { file: FILE, id: "nope" })).toBeUndefined();
    expect(await store.read("transcripts.tail", { file: "agents/main/sessions/none.jsonl", limit: 3 })).toEqual([]);
  });

  test("the way from the leaf upwards skips dead branches and ends where it is asked to", async () => {
    await ensure();
    const store = world.store();
    await store.write("transcripts.append", { file: FILE, entries: [entry("a", null), entry("b", "a"), entry("dead", "b")] });
    await store.write("transcripts.branch", { file: FILE, leafId: "b" });
    await store.write("transcripts.append", { file: FILE, entries: [entry("c", "b"), entry("d", "c")], expectLeaf: "b" });
    const path = async (over: object = {}) => (await store.read("transcripts.path", { file: FILE, ...over })).map((row) => row.id);
    expect(await path()).toEqual(["a", "b", "c", "d"]);
    expect(await path({ until: "b" })).toEqual(["b", "c", "d"]);
    expect(await path({ limit: 2 })).toEqual(["c", "d"]);
    expect(await path({ from: "dead" })).toEqual(["a", "b", "dead"]);
    await expect(store.write("transcripts.append", { file: FILE, entries: [entry("x", "c")], expectLeaf: "c" })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.write("transcripts.branch", { file: FILE, leafId: "nope" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a long way is the same way, with dead branches, a repeated id and a parent that comes after its child", async () => {
    await ensure();
    const store = world.store();
    const path = async (over: object = {}) => (await store.read("transcripts.path", { file: FILE, ...over })).map((row) => row.id);
    const names = Array.from({ length: 3_000 }, (_, n) => `e${n}`);
    // Between any two of the way stand up to three lines of dead branches, in one place more than a page of them.
    const lines = names.flatMap((name, n) => [
      entry(name, n === 0 ? null : names[n - 1]!),
      ...Array.from({ length: n === 1_500 ? 2_100 : n % 4 }, (_, m) => entry(`dead${n}-${m}`, name)),
    ]);
    const [first, second] = [lines[0]!, lines[1]!];
    await store.write("transcripts.append", { file: FILE, entries: [second, first, ...lines.slice(2)] });
    expect(await path({ from: "e2999" })).toEqual(names);
    expect(await path({ from: "e2999", limit: 1_000 })).toEqual(names.slice(-1_000));
    expect(await path({ from: "e2999", until: "e700" })).toEqual(names.slice(700));
    await store.write("transcripts.append", { file: FILE, entries: [entry("e40", "e10")] });
    expect(await path({ from: "e2999" })).toEqual([...names.slice(0, 11), ...names.slice(40)]);
  });

  test("parents in a circle end the walk", async () => {
    await ensure();
    await world.store().write("transcripts.append", { file: FILE, entries: [entry("a", "b"), entry("b", "a")] });
    expect((await world.store().read("transcripts.path", { file: FILE })).map((row) => row.id)).toEqual(["a", "b"]);
  });

  test("a reset puts the transcript away under its documented name and frees the old one", async () => {
    await ensure();
    const store = world.store();
    await store.write("transcripts.append", { file: FILE, entries: [entry("a", null)] });
    const { file } = await store.write("transcripts.archive", { file: FILE, reason: "reset" });
    expect(file).toBe(`${FILE}.reset.${new Date(world.clock.now()).toISOString().replaceAll(":", "-")}`);
    expect(await store.read("transcripts.get", { file: FILE })).toBeUndefined();
    expect(await store.read("transcripts.tail", { file, limit: 5 })).toMatchObject([{ id: "a" }]);
    expect((await store.read("transcripts.list", { archived: true })).map((row) => row.file)).toEqual([file]);
    expect(await ensure()).toMatchObject({ created: true });
    expect(await store.write("transcripts.remove", { file })).toEqual({ removed: 2 });
    expect((await store.read("transcripts.list", {})).map((row) => row.file)).toEqual([FILE]);
  });

  test("transcripts that were just written are listed as such, the newest first", async () => {
    await ensure();
    const store = world.store();
    await store.write("transcripts.append", { file: FILE, entries: [entry("a", null)] });
    const row = await store.read("transcripts.get", { file: FILE });
    expect(await store.read("transcripts.unwritten", { limit: 5 })).toEqual([row]);
  });

  test("a transcript knows its branches: what stands in the place of what, where each one ends, and which is in use", async () => {
    await ensure();
    const store = world.store();
    const note = (id: string, parentId: string) => ({ id, parentId, type: "custom", line: JSON.stringify({ type: "custom", id, parentId }) });
    await store.write("transcripts.append", { file: FILE, entries: [entry("a", null), entry("b", "a"), entry("c", "b")] });
    expect(await store.read("transcripts.get", { file: FILE })).toMatchObject({ fork: 0 });
    expect(await store.read("transcripts.siblings", { file: FILE, seqs: [1, 2, 3] })).toEqual([]);
    // Bookkeeping between two messages does not count.
    await store.write("transcripts.append", { file: FILE, entries: [note("n", "a"), entry("B", "n"), entry("C", "B")] });
    await store.write("transcripts.append", { file: FILE, entries: [note("m", "c")] });
    const again = await world.reopen();
    expect(await again.read("transcripts.get", { file: FILE })).toMatchObject({ fork: 7, leafId: "m" });
    const both = [
      { seq: 2, id: "b", role: "user" },
      { seq: 5, id: "B", role: "user" },
    ];
    expect(await again.read("transcripts.siblings", { file: FILE, seqs: [1, 2, 3, 5] })).toEqual([
      { seq: 2, siblings: both },
      { seq: 5, siblings: both },
    ]);
    expect(await again.read("transcripts.following", { file: FILE, id: "a" })).toEqual(both);
    expect(await again.read("transcripts.following", { file: FILE, id: null })).toEqual([{ seq: 1, id: "a", role: "user" }]);
    expect(await again.read("transcripts.newestBelow", { file: FILE, id: "B" })).toMatchObject({ id: "C" });
    expect(await again.read("transcripts.newestBelow", { file: FILE, id: "b" })).toMatchObject({ id: "m" });
    expect(await again.read("transcripts.newestBelow", { file: FILE, id: "none" })).toBeUndefined();
    expect(await again.read("transcripts.onBranch", { file: FILE, seqs: [1, 2, 3, 4, 5, 6, 7] })).toEqual([true, true, true, false, false, false, true]);
  });

  test("what would break the file is refused", async () => {
    await ensure();
    const store = world.store();
    await expect(store.write("transcripts.append", { file: FILE, entries: [{ type: "message", line: "{}\n{}" }] })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(store.write("transcripts.append", { file: "agents/main/sessions/none.jsonl", entries: [entry("a", null)] })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(store.write("transcripts.ensure", { file: FILE, agentId: "main", sessionId: "other", header: HEADER })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    await expect(store.write("transcripts.ensure", { file: "../../etc/x.jsonl", agentId: "main", sessionId: "s", header: HEADER })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
}
