/** `openclaw memory`, with and without a gateway, and what it makes of bad input. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { labChat } from "../harness/lab-chat.ts";

const SESSION = "agent:main:main";

let gateway: LabGateway;
const chat = labChat(() => gateway);
let workspace: string;

beforeAll(async () => {
  gateway = await startLabGateway({ sections: {} });
  ({ workspace } = gateway);
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(
    join(workspace, "MEMORY.md"),
    "# What I know\n\n## People\n\n- Nadia is the landlady; call her after six.\n- The plumber is called Werner Hopp.\n",
  );
  writeFileSync(join(workspace, "memory", "2026-10-02.md"), "- 09:30 Met the council about the loft. They want drawings by the end of November.\n");
  gateway.model.answers(() => "Noted.");
  await chat.call("chat.send", { sessionKey: SESSION, message: "My sister Lotte works at the botanical garden in Ghent.", idempotencyKey: "lotte" });
  await chat.call("agent.wait", { runId: "lotte", timeoutMs: 30_000 });
});
afterAll(async () => gateway?.[Symbol.asyncDispose]());

async function cli(...args: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return gateway.place.start("memory", ...args);
}

async function json<T>(...args: readonly string[]): Promise<T> {
  const { code, stdout, stderr } = await cli(...args, "--json");
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as T;
}

/** Once through the gateway and, when it is stopped, once on the state folder. */
async function bothWays(work: () => Promise<void>): Promise<void> {
  await work();
  await gateway.stop();
  try {
    await work();
  } finally {
    await gateway.start();
  }
}

interface Found {
  readonly results: readonly {
    readonly path: string;
    readonly snippet: string;
    readonly reasons?: readonly string[];
    readonly sessionId?: string;
    readonly entryId?: string;
  }[];
  readonly mode: string;
  readonly ranker: string;
  readonly understood?: { readonly text: string };
}

test("status, index and search answer the same with a gateway and without one", () =>
  bothWays(async () => {
    const [status] = await json<readonly { agentId: string; status: Record<string, unknown>; scan: object }[]>("status", "--index");
    expect(status).toMatchObject({ agentId: "main", scan: { issues: [] } });
    expect(status!.status).toMatchObject({
      backend: "builtin",
      sourceCounts: [expect.objectContaining({ source: "memory" }), expect.objectContaining({ source: "sessions" })],
      dirty: false,
      workspaceDir: workspace,
      dbPath: join(gateway.place.stateDir, "memory", "main.sqlite"),
      provider: "none",
      requestedProvider: "auto",
      sources: ["memory", "sessions"],
      extraPaths: [],
      fts: { enabled: true, available: true },
      custom: { searchMode: "fts-only" },
    });
    expect(Object.keys(status!.status)).toEqual(expect.arrayContaining(["files", "chunks", "cache", "vector", "batch"]));
    expect((await cli()).stdout).toMatch(/Agent main[\s\S]*Notes +[23] files/);
    expect(await json<readonly unknown[]>("index", "--force")).toMatchObject([{ agentId: "main", files: expect.any(Number), issues: [] }]);
    expect((await cli("index", "--verbose")).stdout).toMatch(/✓ main: [23] notes/);
    const found = await json<Found>("search", "who is our plumber", "--min-score", "0");
    expect(found).toMatchObject({ mode: "fts-only", ranker: "learned" });
    expect(found.results[0]).toMatchObject({ path: "MEMORY.md", snippet: expect.stringContaining("Werner Hopp") });
    expect((await cli("search", "where does my sister work", "--min-score", "0", "--max-results", "1")).stdout).toMatch(
      /sessions\/.+#L\d+.*\n +My sister Lotte/,
    );
    expect((await cli("status", "--agent", "nobody")).stderr).toMatch(/unknown agent id "nobody"/);
  }));

test("why says how the question was understood and what put each hit there", async () => {
  const found = await json<Found>("why", "who is our plumber", "--min-score", "0");
  expect(found.understood?.text).toMatch(/looks for plumber; asks for a person/);
  expect(found.results[0]!.reasons?.[0]).toMatch(/^\+ words: plumber/);
  expect(found.results[0]!.reasons!.length).toBeGreaterThan(2);
  const { stdout } = await cli("why", "who is our plumber", "--min-score", "0");
  expect(stdout).toMatch(/^Understood {2}looks for plumber/);
  expect(stdout).toMatch(/\+ words: plumber/);
});

test("eval measures questions, with all three ways to name an answer, and names bad lines", () =>
  bothWays(async () => {
    const [{ sessionId, entryId }] = (await json<Found>("search", "sister botanical garden", "--min-score", "0")).results as [Found["results"][number]];
    const questions = [
      JSON.stringify({ query: "who is our plumber", expect: [{ path: "MEMORY.md", line: 6 }] }),
      "{broken",
      JSON.stringify({ query: "where does Lotte work", now: "2026-11-20T10:00:00Z", expect: [{ sessionId, entryId }] }),
      "",
      JSON.stringify({ query: "what does the council want", expect: [{ text: "drawings by the end" }] }),
      JSON.stringify({ query: "who is our plumber", expect: [{ text: "nobody said this" }] }),
      JSON.stringify({ query: "x" }),
    ];
    const file = join(gateway.place.home, "questions.jsonl");
    writeFileSync(file, `${questions.join("\n")}\n`);
    const { code, stdout, stderr } = await cli("eval", file, "--json");
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      n: 4,
      recall: { "5": 0.75, "10": 0.75 },
      ndcg10: expect.any(Number),
      msP50: expect.any(Number),
      misses: [{ line: 6, found: 0, expected: 1 }],
    });
    expect(stderr).toMatch(/questions\.jsonl:2: /);
    expect(stderr).toMatch(/questions\.jsonl:7: "expect" is missing/);
    expect((await cli("eval", file)).stdout).toMatch(/Found among the first 10 +75\.0 %/);
    expect((await cli("eval", join(gateway.place.home, "none.jsonl"))).code).toBe(1);
  }));

test("export gives every passage with where it is from", () =>
  bothWays(async () => {
    const out = join(gateway.place.home, "export.jsonl");
    expect((await cli("export", "--out", out)).stderr).toMatch(/\d+ passages in /);
    const passages = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(passages.map(({ path }) => path)).toEqual(expect.arrayContaining(["MEMORY.md", "memory/2026-10-02.md"]));
    expect(passages.find(({ text }) => String(text).includes("Lotte"))).toMatchObject({
      source: "sessions",
      role: "user",
      sessionKey: SESSION,
      entryId: expect.any(String),
      at: expect.any(String),
    });
    expect((await cli("export")).stdout).toContain("Werner Hopp");
  }));

test("questions of every kind are answered, never with an error", async () => {
  for (const query of [
    'plumber AND (NOT "x OR NEAR(',
    "'; DROP TABLE passages; --",
    "🦆🔧",
    "מי השרברב שלנו؟",
    '"',
    "*",
    "a:b^c",
    "%_",
    "\u202Eplumber\u202C",
    "--",
  ]) {
    const { ok, error } = await gateway.operator.ask("memory.search", { query });
    expect([query, ok, error]).toEqual([query, true, undefined]);
  }
  const { results } = await json<Found>("search", "who is our plumber", "--min-score", "0");
  expect(results[0]!.snippet).toContain("Werner");
});

test("a query of 100 KB is answered by its beginning", async () => {
  const query = `who is our plumber ${"and so on ".repeat(10_000)}`;
  const { ok, payload } = await gateway.operator.ask("memory.search", { query, minScore: 0 });
  expect(ok).toBe(true);
  expect(JSON.stringify(payload)).toContain("Werner Hopp");
  for (const bad of [{ query: "" }, { query: "   " }, { query: "x".repeat(300_000) }, {}])
    expect((await gateway.operator.request("memory.search", bad)).ok).toBe(false);
});

test("forget shows what would be removed, asks, and removes", () =>
  bothWays(async () => {
    const note = join(workspace, "memory", "2026-10-03.md");
    writeFileSync(note, "- The cellar key is REDWING5.\n- Eggs.\n");
    expect((await cli("forget", "redwing5", "--preview")).stdout).toMatch(/1\. memory\/2026-10-03\.md#L1: - The cellar key/);
    const refused = await cli("forget", "redwing5");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("No changes made: without a terminal, use --yes to confirm")]);
    expect(readFileSync(note, "utf8")).toContain("REDWING5");
    const done = await cli("forget", "redwing5", "--yes");
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/✓ Removed 1 line of notes, 0 messages[\s\S]*earlier backups/)]);
    expect(readFileSync(note, "utf8")).toBe("- Eggs.\n");
    expect((await cli("forget", "memory/2026-10-03.md#L1", "--yes")).code).toBe(0);
    expect(readFileSync(note, "utf8")).toBe("");
    expect((await cli("forget", "nothing-like-it-anywhere")).stdout).toMatch(/No match in notes or conversations/);
  }));

test("forget says before and after which lines stay: files outside of the workspace's memory are not changed", async () => {
  const extra = join(gateway.place.stateDir, "..", "extra-notes");
  mkdirSync(extra, { recursive: true });
  const file = join(extra, "club.md");
  writeFileSync(file, "a\n- The PIPIT8 code.\n");
  const { agents } = gateway.sections as { agents: { defaults?: object } };
  await gateway.stop();
  gateway.configure({ agents: { ...agents, defaults: { ...agents.defaults, memorySearch: { extraPaths: [extra] } } } });
  try {
    await gateway.start();
    await bothWays(async () => {
      const preview = (await cli("forget", "pipit8", "--preview")).stdout;
      expect(preview).toMatch(/club\.md#L2: - The PIPIT8 code\. \(stays: not in the workspace's memory; edit it yourself\)/);
      expect(preview).toMatch(/Cannot be removed here:\n.*club\.md#L2: not in the workspace's memory; edit it yourself/);
      expect((await cli("forget", "pipit8", "--yes")).stdout).toMatch(/Removed 0 lines of notes/);
      expect(readFileSync(file, "utf8")).toBe("a\n- The PIPIT8 code.\n");
    });
  } finally {
    gateway.configure({ agents });
  }
});

const lastResult = ({ body }: ModelRequest): string | undefined => {
  const last = (JSON.parse(body) as { messages: readonly { role: string; content: string }[] }).messages.at(-1);
  return last?.role === "tool" ? last.content : undefined;
};

test("what was recalled in which turn is known, and a note that is recalled often is suggested for MEMORY.md, never written by itself", async () => {
  gateway.model.answers((request: ModelRequest) =>
    lastResult(request) === undefined
      ? { text: "", calls: [{ name: "memory_search", args: { query: "council loft drawings", minScore: 0, maxResults: 1 } }] }
      : "By the end of November.",
  );
  for (const n of [1, 2, 3]) await chat.answered(SESSION, `When are the drawings due? (${n})`);
  const recalled = async (): Promise<readonly object[]> => (await chat.call<{ recalls: readonly object[] }>("memory.recalls", {})).recalls;
  await expect.poll(recalled).toHaveLength(3);
  const recalls = await recalled();
  expect(recalls[0]).toMatchObject({
    sessionKey: SESSION,
    asked: expect.stringContaining("(3)"),
    query: "council loft drawings",
    results: [{ path: "memory/2026-10-02.md", startLine: 1 }],
  });
  const before = readFileSync(join(workspace, "MEMORY.md"), "utf8");
  const { stdout } = await cli("suggest");
  expect(stdout).toMatch(/1\. memory\/2026-10-02\.md#L1, recalled in 3 turns, mean score 0\.\d\d/);
  expect(stdout).toMatch(/^\+- Met the council about the loft\. They want drawings by the end of November\. \(memory\/2026-10-02\.md\)$/m);
  expect(readFileSync(join(workspace, "MEMORY.md"), "utf8")).toBe(before);
  expect((await cli("suggest", "--accept", "1")).stdout).toMatch(/MEMORY\.md has 1 line more/);
  // It has no heading of its own, so it does not become one of the people.
  const [title, people] = before.split("\n\n## People");
  const added = "- Met the council about the loft. They want drawings by the end of November. (memory/2026-10-02.md)";
  expect(readFileSync(join(workspace, "MEMORY.md"), "utf8")).toBe(`${title}\n\n${added}\n\n## People${people}`);
  expect(await json("suggest")).toEqual({ suggestions: [] });

  // What was forgotten is not suggested, although it was recalled often.
  const note = join(workspace, "memory", "2026-10-04.md");
  writeFileSync(note, "# Boat\n\n- The mooring is number 31.\n- The WHIMBREL4 code opens the gate.\n");
  gateway.model.answers((request: ModelRequest) =>
    lastResult(request) === undefined
      ? { text: "", calls: [{ name: "memory_search", args: { query: "mooring number, code of the gate", minScore: 0, maxResults: 1 } }] }
      : "31.",
  );
  for (const n of [1, 2, 3]) await chat.answered(SESSION, `Which mooring, and how do I get in? (${n})`);
  const lines = async (): Promise<string> => JSON.stringify(await json("suggest"));
  await expect.poll(lines).toContain("WHIMBREL4");
  expect((await cli("forget", "whimbrel4", "--yes")).code).toBe(0);
  const left = await json<{ suggestions: readonly object[] }>("suggest");
  expect(JSON.stringify(left)).not.toMatch(/WHIMBREL4|\[removed\]/i);
  rmSync(note);
});

test("notes are listed, read and written; a note that changed in between is not overwritten, nor is anything else of the workspace", async () => {
  const ask = (method: string, params: object) => gateway.operator.ask(method as never, params);
  const { payload: listed } = await ask("memory.notes.list", {});
  expect((listed as { notes: readonly { path: string }[] }).notes[0]).toMatchObject({ path: "MEMORY.md" });
  expect((listed as { notes: readonly object[] }).notes).toContainEqual(expect.objectContaining({ path: "memory/2026-10-02.md", day: "2026-10-02" }));
  const { payload: note } = await ask("memory.notes.get", { path: "MEMORY.md" });
  const { text, hash } = note as { text: string; hash: string };
  expect(await ask("memory.notes.set", { path: "MEMORY.md", text: `${text}- Rye bread.\n`, hash })).toMatchObject({ ok: true });
  const late = await ask("memory.notes.set", { path: "MEMORY.md", text: "lost", hash });
  expect(late).toMatchObject({ ok: false, error: { message: expect.stringContaining("changed in the meantime"), details: { reason: "CONFLICT" } } });
  expect(readFileSync(join(workspace, "MEMORY.md"), "utf8")).toBe(`${text}- Rye bread.\n`);
  for (const path of [
    "AGENTS.md",
    "../openclaw.json",
    "memory/../AGENTS.md",
    "memory/x.txt",
    "/etc/passwd.md",
    "memory",
    "memory/",
    "",
    "memory/a\\b.md",
    "memory/./x.md",
  ]) {
    expect([path, (await ask("memory.notes.set", { path, text: "x" })).ok]).toEqual([path, false]);
    expect([path, (await ask("memory.notes.delete", { path })).ok]).toEqual([path, false]);
  }
  expect(existsSync(join(workspace, "AGENTS.md"))).toBe(false);
});
