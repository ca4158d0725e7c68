/** What is forgotten is gone: from notes, conversations, the database, its log, the index and the files beside them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };
const SESSION = "agent:main:main";
const CANARY = "GREYHERON77";

let gateway: LabGateway;
let workspace: string;
let turns = 0;

beforeAll(async () => {
  gateway = await startLabGateway({ sections: {} });
  ({ workspace } = gateway);
  mkdirSync(join(workspace, "memory"), { recursive: true });
});
afterAll(async () => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));

async function request<T>(method: string, params: object): Promise<T> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect(ok, JSON.stringify(error)).toBe(true);
  return payload as T;
}

/** One message of a client; gives the answer as it is shown. */
async function say(message: string, answer: string | ((request: ModelRequest) => unknown) = "ok", sessionKey = SESSION): Promise<string> {
  gateway.model.answers(typeof answer === "string" ? () => answer : (answer as never));
  turns += 1;
  const idempotencyKey = `forget-${turns}`;
  const finals: string[] = [];
  await request("chat.send", { sessionKey, message, idempotencyKey });
  await expect
    .poll(async () => (await gateway.operator.request("agent.wait", { runId: idempotencyKey, timeoutMs: 15_000 })).payload, PATIENCE)
    .toMatchObject({ status: "ok" });
  for (const event of gateway.operator.frames.filter(({ type }) => type === "event")) {
    const { runId, state, message: shown } = (event.payload ?? {}) as { runId?: string; state?: string; message?: { content?: readonly { text?: string }[] } };
    if (event.event === "chat" && runId === idempotencyKey && state === "final") finals.push(shown?.content?.map(({ text = "" }) => text).join("") ?? "");
  }
  return finals.join("\n");
}

/** Files of the state folder and the workspace that contain a text, also in parts that SQLite no longer uses. */
function holding(text: string): readonly string[] {
  const roots = [gateway.place.stateDir, workspace];
  return roots.flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .map((name) => join(root, name))
      .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true && readFileSync(file).includes(text)),
  );
}

interface Report {
  readonly removed: boolean;
  readonly items: readonly {
    readonly n: number;
    readonly kind: string;
    readonly path: string;
    readonly text: string;
    readonly sessionId?: string;
    readonly entryId?: string;
  }[];
  readonly copies: number;
  readonly match: string;
  readonly plan: string;
  readonly unreachable: readonly string[];
}

interface Found {
  readonly results: readonly { readonly path: string; readonly snippet: string }[];
}

const search = (query: string): Promise<Found> => request("memory.search", { query, minScore: 0, maxResults: 20 });

const lastResult = ({ body }: ModelRequest): string | undefined => {
  const last = (JSON.parse(body) as { messages: readonly { role: string; content: string }[] }).messages.at(-1);
  return last?.role === "tool" ? last.content : undefined;
};

test("a secret in notes, messages, answers, results of tools and deliveries is nowhere after /forget", async () => {
  writeFileSync(join(workspace, "MEMORY.md"), `# Memory\n\n- The safe opens with ${CANARY}.\n- The plumber is Werner.\n`);
  writeFileSync(join(workspace, "memory", "2026-10-05.md"), `Gave Ida the ${CANARY.toLowerCase()} code.\nBought tea.\n`);
  await say(`Please keep this: the safe code is ${CANARY}, do not lose it.`, `Noted: ${CANARY}.`);
  await say("What was it again?", (asked) =>
    lastResult(asked) === undefined
      ? { text: "", calls: [{ name: "memory_search", args: { query: `${CANARY} safe code`, minScore: 0 } }] }
      : "It is in your notes.",
  );
  await say("/new");
  await say("And the tea?", "Green.");
  expect((await search("safe code")).results.length).toBeGreaterThan(0);
  expect(holding(CANARY).length).toBeGreaterThan(3);

  const shown = await say(`/forget ${CANARY.toLowerCase()}`);
  expect(shown).toMatch(/would be permanently removed/);
  expect(shown).toMatch(/1\. MEMORY\.md, line 3: - The safe opens/);
  const answered = await say("/forget confirm");
  expect(answered).toMatch(/^Removed 2 lines of notes \(MEMORY\.md, memory\/2026-10-05\.md\), [2-9] messages/);
  expect(answered).toMatch(/Not covered: .*earlier backups/);
  expect(answered).not.toContain(CANARY);

  expect(readFileSync(join(workspace, "MEMORY.md"), "utf8")).toBe("# Memory\n\n- The plumber is Werner.\n");
  expect(readFileSync(join(workspace, "memory", "2026-10-05.md"), "utf8")).toBe("Bought tea.\n");
  const logs = (file: string): boolean => file.endsWith(".log");
  for (const form of [CANARY, CANARY.toLowerCase()]) expect(holding(form).filter((file) => !logs(file))).toEqual([]);
  expect(JSON.stringify(await search("safe code"))).not.toContain(CANARY);
  // What is left is as it was, and is found.
  expect(JSON.stringify(await search("plumber"))).toContain("Werner");
  // The conversation goes on, and the model is not shown it.
  let asked = "";
  await say("What did I want you to keep?", (sent) => {
    asked = sent.body;
    return "I do not know.";
  });
  expect(asked).not.toContain(CANARY);
  await gateway.stop();
  await gateway.start();
  expect(holding(CANARY).filter((file) => !logs(file))).toEqual([]);
  expect(await say("hello", "still here")).toContain("still here");
});

test("a conversation in use forgets within its context, too", async () => {
  await say("My locker has the number BLUEJAY31 on it.", "Noted.", "agent:main:locker");
  const report = await request<Report>("memory.forget", { text: "bluejay31" });
  expect(report).toMatchObject({ removed: true, match: "phrase", items: [{ kind: "message" }] });
  let asked = "";
  await say(
    "What number?",
    (sent) => {
      asked = sent.body;
      return "gone";
    },
    "agent:main:locker",
  );
  expect(asked).not.toContain("BLUEJAY31");
  expect(asked).toContain("[removed]");
});

test("a preview changes nothing; a plan that is out of date is refused; numbers choose", async () => {
  writeFileSync(join(workspace, "memory", "2026-10-06.md"), "- one ouzel\n- two ouzel\n- three swans\n");
  const preview = await request<Report>("memory.forget", { text: "ouzel", preview: true });
  expect(preview).toMatchObject({
    removed: false,
    items: [
      { n: 1, text: "- one ouzel" },
      { n: 2, text: "- two ouzel" },
    ],
  });
  expect(readFileSync(join(workspace, "memory", "2026-10-06.md"), "utf8")).toContain("two ouzel");
  writeFileSync(join(workspace, "memory", "2026-10-07.md"), "- another ouzel\n");
  const refused = await gateway.operator.request("memory.forget", { text: "ouzel", plan: preview.plan });
  expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining("something changed") } });
  expect(await request<Report>("memory.forget", { text: "ouzel", only: [2] })).toMatchObject({ removed: true, items: [{ text: "- two ouzel" }] });
  expect(readFileSync(join(workspace, "memory", "2026-10-06.md"), "utf8")).toBe("- one ouzel\n- three swans\n");
  expect(existsSync(join(workspace, "memory", "2026-10-07.md"))).toBe(true);
});

test("lines of a note and one entry of a conversation are removed by their place", async () => {
  writeFileSync(join(workspace, "memory", "2026-10-08.md"), "a\nQUAIL-1 line\nb\n");
  await request("memory.forget", { path: "memory/2026-10-08.md", startLine: 2, endLine: 2 });
  expect(readFileSync(join(workspace, "memory", "2026-10-08.md"), "utf8")).toBe("a\nb\n");
  await say("The QUAIL-2 is under the mat by the door.", "I see.");
  const { results } = await request<{ results: readonly { sessionId: string; entryId: string; snippet: string }[] }>("memory.search", {
    query: "quail mat door",
    minScore: 0,
  });
  const hit = results.find(({ snippet }) => snippet.includes("QUAIL-2"))!;
  await request("memory.forget", { sessionId: hit.sessionId, entryId: hit.entryId });
  expect(holding("QUAIL-2").filter((file) => !file.endsWith(".log"))).toEqual([]);
});

test("what matches nothing, too much or nonsense is said so", async () => {
  expect(await say("/forget zzz-not-there-at-all")).toMatch(/No match in notes or conversations/);
  expect(holding("zzz-not-there").filter((file) => !file.endsWith(".log"))).toEqual([]);
  expect(await say("/forget confirm")).toMatch(/Nothing to confirm/);
  expect(await say("/forget")).toMatch(/Usage: \/forget/);
  for (const params of [
    { text: "a" },
    {},
    { text: "abc", path: "MEMORY.md", startLine: 1 },
    { path: "AGENTS.md", startLine: 1 },
    { path: "memory/none.md", startLine: 1 },
    { sessionId: "x", entryId: "y" },
  ]) {
    expect((await gateway.operator.request("memory.forget", params)).ok, JSON.stringify(params)).toBe(false);
  }
});

test("/remember writes a list item into the note of the day, or with --always into MEMORY.md, and the next search finds it", async () => {
  const noted = await say("/remember The rowing club meets on Thursdays\nat the old lock.");
  const [, path, line] = /Noted in (memory\/\d{4}-\d{2}-\d{2}\.md), line (\d+)\./.exec(noted)!;
  const lines = readFileSync(join(workspace, path!), "utf8").split("\n");
  expect(lines[Number(line) - 1]).toMatch(/^- \d{2}:\d{2} The rowing club meets on Thursdays$/);
  expect(lines[Number(line)]).toBe("  at the old lock.");
  expect(await say("/remember --always Ida is allergic to nuts.")).toMatch(/Noted in MEMORY\.md, line \d+\./);
  expect(readFileSync(join(workspace, "MEMORY.md"), "utf8")).toMatch(/- Ida is allergic to nuts\.\n$/);
  expect(JSON.stringify(await search("rowing club thursday"))).toContain("old lock");
  expect(JSON.stringify(await search("who is allergic to nuts"))).toContain("Ida");
  expect(await say("/remember")).toMatch(/Usage: \/remember/);
});

test("a removed note is not found, can be restored for a day, and is erased when its text is forgotten", async () => {
  const path = "memory/2026-10-09.md";
  await request("memory.notes.set", { path, text: "The WAXWING14 key is in the blue jar.\n", hash: "" });
  expect(JSON.stringify(await search("waxwing key jar"))).toContain("WAXWING14");
  const { undo } = await request<{ undo: string }>("memory.notes.delete", { path });
  expect(existsSync(join(workspace, path))).toBe(false);
  expect(JSON.stringify(await search("waxwing key jar"))).not.toContain("WAXWING14");
  expect(await request("memory.notes.restore", { undo })).toMatchObject({ path });
  expect(JSON.stringify(await search("waxwing key jar"))).toContain("WAXWING14");
  await request("memory.notes.delete", { path });
  await request("memory.forget", { text: "WAXWING14" });
  expect(holding("WAXWING14").filter((file) => !file.endsWith(".log"))).toEqual([]);
});

test("a note that is not UTF-8 keeps its bytes and is named as out of reach", async () => {
  const file = join(workspace, "memory", "2026-10-10.md");
  const bytes = Buffer.from("Stra\u00dfe 4\nthe DOTTEREL5 code\nT\u00fcr\n", "latin1");
  writeFileSync(file, bytes);
  const place = "memory/2026-10-10.md#L2: not UTF-8; edit it yourself";
  for (const params of [{ text: "dotterel5" }, { path: "memory/2026-10-10.md", startLine: 2 }]) {
    const report = await request<Report>("memory.forget", params);
    expect(report.items).toMatchObject([{ text: "the DOTTEREL5 code", kept: "not UTF-8; edit it yourself" }]);
    expect(report.unreachable).toContain(place);
  }
  expect(readFileSync(file)).toEqual(bytes);
  const set = await gateway.operator.request("memory.notes.set", { path: "memory/2026-10-10.md", text: "new\n" });
  expect(set).toMatchObject({ ok: false, error: { message: expect.stringContaining("not UTF-8") } });
  expect(readFileSync(file)).toEqual(bytes);
});

test("a text that is wrapped in a note goes with all of its lines; an answer that repeats it escaped is overwritten", async () => {
  const file = join(workspace, "memory", "2026-10-11.md");
  writeFileSync(file, '# Fish\n- the "purple\n  haddock" is Ida\'s word\n- cod\n');
  await say("What did the tool say?", String.raw`It said {\"note\":\"the \"purple\nhaddock\" is it\"} and nothing else.`);
  expect(JSON.stringify(await search("haddock"))).toContain("haddock");
  const report = await request<Report>("memory.forget", { text: '"Purple haddock"' });
  expect(report.items.map(({ kind, text }) => [kind, text.slice(0, 12)])).toEqual([
    ["note", '- the "purpl'],
    ["message", 'It said {\\"n'],
  ]);
  expect(readFileSync(file, "utf8")).toBe("# Fish\n- cod\n");
  expect(holding("haddock").filter((held) => !held.endsWith(".log"))).toEqual([]);
  expect(JSON.stringify(await search("haddock"))).not.toContain("haddock");
});

test("the lines of a note are counted without the end of the last one", async () => {
  writeFileSync(join(workspace, "memory", "2026-10-12.md"), "a\nb\n");
  const { error } = await gateway.operator.request("memory.forget", { path: "memory/2026-10-12.md", startLine: 3 });
  expect(error).toMatchObject({ message: expect.stringContaining("has 2 lines") });
});

test("names of conversations go; scheduled jobs and what is left of deleted agents are named with what to do", async () => {
  const key = "agent:main:godwit";
  await say("Hello there.", "hello", key);
  await request("sessions.patch", { key, label: "Godwit9 plans" });
  const indexes = (): readonly string[] => holding("Godwit9").filter((file) => file.endsWith("sessions.json"));
  await expect.poll(indexes, PATIENCE).toHaveLength(1);
  const schedule = { kind: "at", at: new Date(Date.now() + 86_400_000).toISOString() };
  const job = { schedule, sessionTarget: "isolated", wakeMode: "now", delivery: { mode: "none" } };
  const { id } = await request<{ id: string }>("cron.add", { ...job, name: "call Ida", payload: { kind: "agentTurn", message: "tell her godwit9" } });
  const { id: other } = await request<{ id: string }>("cron.add", { ...job, name: "GODWIT9", payload: { kind: "agentTurn", message: "x" } });
  const trash = join(gateway.place.stateDir, "trash", "old-2026-10-01-ab", "agent", "sessions");
  mkdirSync(trash, { recursive: true });
  writeFileSync(join(trash, "s.jsonl"), '{"text":"godwit9"}\n');
  writeFileSync(join(trash, "t.jsonl"), '{"text":"other"}\n');
  const places = [
    `scheduled job call Ida: remove it with openclaw cron rm ${id}`,
    `scheduled job: remove it with openclaw cron rm ${other}`,
    `${join(trash, "s.jsonl")}: of a deleted agent; delete it`,
  ];
  const preview = await request<Report>("memory.forget", { text: "godwit9", preview: true });
  expect(preview.copies).toBeGreaterThan(0);
  const done = await request<Report>("memory.forget", { text: "godwit9" });
  for (const { unreachable } of [preview, done]) {
    expect(unreachable).toEqual(expect.arrayContaining(places));
    expect(unreachable.join()).not.toContain("t.jsonl");
  }
  const { sessions } = await request<{ sessions: readonly { key: string; label?: string }[] }>("sessions.list", {});
  expect(sessions.find((session) => session.key === key)).not.toHaveProperty("label");
  await expect.poll(indexes, PATIENCE).toEqual([]);
  for (const jobId of [id, other]) await request("cron.remove", { id: jobId });
  expect((await request<Report>("memory.forget", { text: "godwit9" })).unreachable.join()).not.toContain("scheduled job");
});
