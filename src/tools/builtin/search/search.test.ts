import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { seededRandom } from "../../../base/random.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../tool.ts";
import type { SearchToolsDeps } from "./effort.ts";
import { threadMs } from "../../../base/thread-time.fixture.ts";
import { findTool } from "./find.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";

let home: string;
let workspace: string;
let confined: boolean;
let deps: SearchToolsDeps;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-search-"));
  workspace = join(home, "workspace");
  mkdirSync(workspace);
  confined = false;
  deps = { ids: createIds(seededRandom(1)), workspaceOnly: () => confined, home, clock: systemClock };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

type Params = Record<string, unknown>;

function run(tool: Tool, params: Params, signal = new AbortController().signal): Promise<ToolOutcome> {
  const context: ToolContext = { agentId: "main", sessionKey: "k", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true };
  return tool.run({ id: "c", params, signal, update: () => undefined, context });
}
const text = ({ content }: ToolOutcome): string => content.map((part) => (part.type === "text" ? part.text : "?")).join("|");

function put(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
}

interface Row {
  readonly what: string;
  readonly params: Params;
  readonly said: string | RegExp;
  readonly isError?: boolean;
  readonly details?: unknown;
}

async function check(tool: Tool, { params, said, isError = false, details }: Row): Promise<void> {
  const outcome = await run(tool, params);
  if (typeof said === "string") expect(text(outcome)).toBe(said);
  else expect(text(outcome)).toMatch(said);
  expect(outcome.isError).toBe(isError);
  expect(outcome.details).toEqual(details);
}

const TREE = {
  "a.txt": "one\nTwo\nthree\n",
  "b.ts": "const x = 1; // one\n",
  "src/c.ts": "one\r\ntwo\r\n",
  "src/deep/d.json": '{"one": 1}',
  ".hidden/e.txt": "one",
  ".git/config": "one",
  "picture.bin": Buffer.from([111, 110, 101, 0, 111, 110, 101]),
  "bad.txt": Buffer.from([0xff, 0xfe, 0x6f, 0x6e, 0x65]),
};

describe("grep", () => {
  beforeEach(() => put(TREE));

  test.each<Row>([
    {
      what: "every text below the workspace is searched, in order, without .git and what is no text",
      params: { pattern: "one" },
      said: '.hidden/e.txt:1: one\na.txt:1: one\nb.ts:1: const x = 1; // one\nbad.txt:1: \uFFFD\uFFFDone\nsrc/c.ts:1: one\nsrc/deep/d.json:1: {"one": 1}',
    },
    { what: "a regular expression is one", params: { pattern: "^t(wo|hree)$" }, said: "a.txt:3: three\nsrc/c.ts:2: two" },
    { what: "(?i) in front is understood", params: { pattern: "(?i)^TWO$" }, said: "a.txt:2: Two\nsrc/c.ts:2: two" },
    { what: "case can be ignored", params: { pattern: "TWO", ignoreCase: true }, said: "a.txt:2: Two\nsrc/c.ts:2: two" },
    { what: "a text can be meant as it is", params: { pattern: "1; //", literal: true }, said: "b.ts:1: const x = 1; // one" },
    { what: "a needless escape is allowed", params: { pattern: "x \\= 1" }, said: "b.ts:1: const x = 1; // one" },
    { what: "a glob chooses files", params: { pattern: "one", glob: "*.{ts,json}" }, said: /^b\.ts:1: .*\nsrc\/c\.ts:1: one\nsrc\/deep\/d\.json:1: .*$/ },
    { what: "a glob with folders chooses paths", params: { pattern: "one", glob: "src/**/*.json" }, said: 'src/deep/d.json:1: {"one": 1}' },
    { what: "one file can be searched", params: { pattern: "t", path: "a.txt" }, said: "a.txt:3: three" },
    { what: "paths come from the folder that is searched", params: { pattern: "two", path: "src" }, said: "c.ts:2: two" },
    { what: "lines around are shown", params: { pattern: "Two", context: 1 }, said: "a.txt-1- one\na.txt:2: Two\na.txt-3- three" },
    {
      what: "what is left out between is marked",
      params: { pattern: "Two|two", context: 1 },
      said: "a.txt-1- one\na.txt:2: Two\na.txt-3- three\n--\nsrc/c.ts-1- one\nsrc/c.ts:2: two",
    },
    {
      what: "the limit is reported when there is more",
      params: { pattern: "one", limit: 1 },
      said: ".hidden/e.txt:1: one\n\n[1 matches limit reached. Use limit=2 for more, or refine pattern]",
      details: { matchLimitReached: 1 },
    },
    { what: "as many as the limit are all", params: { pattern: "two", limit: 1 }, said: "src/c.ts:2: two" },
    { what: "no matches are reported as such", params: { pattern: "nowhere" }, said: "No matches found" },
    {
      what: "a missing pattern is reported",
      params: {},
      said: "Missing required parameter: pattern. Supply correct parameters before retrying.",
      isError: true,
    },
    { what: "an invalid pattern is reported", params: { pattern: "a(" }, said: /^Invalid regular expression: .*Use literal=true/, isError: true },
    { what: "a missing path is reported", params: { pattern: "a", path: "none" }, said: "Path not found: none", isError: true },
    { what: "a glob that is too long is reported", params: { pattern: "a", glob: "a".repeat(2000) }, said: /^The glob is too long/, isError: true },
    { what: "a device is refused", params: { pattern: "a", path: "/dev/zero" }, said: "/dev/zero is no regular file", isError: true },
  ])("$what", async (row) => check(grepTool.create(deps), row));

  test("long lines are cut where they are shown, and searched further than that", async () => {
    put({ "long.txt": `${"x".repeat(1000)}needle\n${"y".repeat(70_000)}needle\n` });
    const outcome = await run(grepTool.create(deps), { pattern: "needle" });
    expect(text(outcome)).toBe(
      `long.txt:1: ${"x".repeat(500)}... [truncated]\n\n[Some lines truncated to 500 chars. Use read tool to see full lines. Lines longer than 65536 chars were searched up to there only]`,
    );
    expect(outcome.details).toEqual({ linesTruncated: true });
  });

  test("a result stops at what can be shown", async () => {
    put({ "many.txt": `needle ${"z".repeat(480)}\n`.repeat(1000) });
    const outcome = await run(grepTool.create(deps), { pattern: "needle", limit: 1000 });
    expect(text(outcome)).toMatch(/\n\n\[50\.0KB limit reached\]$/);
    expect(Buffer.byteLength(text(outcome))).toBeLessThan(52 * 1024);
    expect(outcome.details).toMatchObject({ truncation: { truncated: true, outputLines: 102 } });
  });

  test("a line end between two reads hides no match, and line numbers stay right", async () => {
    put({ "blocks.txt": `${"-".repeat(99)}\n`.repeat(2000) + "needle\n" + `${"-".repeat(99)}\n`.repeat(2000) + "needle" });
    for (const pattern of ["needle", "^need.e$"])
      expect(text(await run(grepTool.create(deps), { pattern, path: "blocks.txt" }))).toBe("blocks.txt:2001: needle\nblocks.txt:4002: needle");
  });

  test("a pattern that would take for ever ends in time, others have their turn meanwhile, and what was found stays", async () => {
    put({ "0.txt": `${"a".repeat(50)}\n`, "z.txt": `${"a".repeat(40)}!\n` });
    const tool = grepTool.create({ ...deps, patience: { blockMs: 300 } });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    const started = performance.now();
    const outcome = await run(tool, { pattern: "^(a+)+$" });
    clearInterval(timer);
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(turns).toBeGreaterThan(5);
    expect(text(outcome)).toBe(`0.txt:1: ${"a".repeat(50)}\n\n[Stopped at z.txt: The pattern took longer than 300 ms: make it simpler]`);
    const alone = await run(tool, { pattern: "^(a+)+$", path: "z.txt" });
    expect(alone.isError).toBe(true);
    expect(text(alone)).toBe("No matches found\n\n[Stopped at z.txt: The pattern took longer than 300 ms: make it simpler]");
  });

  test("a search can be stopped, also in the middle of a pattern", async () => {
    put({ "z.txt": `${"a".repeat(40)}!\n` });
    const stop = new AbortController();
    const running = run(grepTool.create(deps), { pattern: "^(a+)+$", path: "z.txt" }, stop.signal);
    setImmediate(() => stop.abort());
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    await expect(run(grepTool.create(deps), { pattern: "one" }, stop.signal)).rejects.toMatchObject({ name: "AbortError" });
  });

  test("a timeout is reported", async () => {
    const outcome = await run(grepTool.create({ ...deps, patience: { totalMs: 0 } }), { pattern: "one" });
    expect(outcome.isError).toBe(true);
    expect(text(outcome)).toMatch(/^No matches found\n\n\[Stopped after 0 s/);
  });

  test("a file of 10 GB of nothing is passed over at once", async () => {
    put({ "huge.txt": "" });
    truncateSync(join(workspace, "huge.txt"), 10 * 1024 ** 3);
    expect(text(await run(grepTool.create(deps), { pattern: "one", path: "huge.txt" }))).toBe("No matches found");
  });

  test("one line of 128 MB takes the memory of its beginning", async () => {
    const path = join(workspace, "line.txt");
    execFileSync("sh", ["-c", `head -c 128000000 /dev/zero | tr '\\0' x > ${path}`]);
    const before = process.memoryUsage().rss;
    expect(text(await run(grepTool.create(deps), { pattern: "needle", path: "line.txt" }))).toMatch(/^No matches found\n\n\[Lines longer than/);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });
});

describe("find", () => {
  beforeEach(() => put(TREE));

  test.each<Row>([
    { what: "a name is found at any depth", params: { pattern: "*.ts" }, said: "b.ts\nsrc/c.ts" },
    { what: "folders are found too", params: { pattern: "de*" }, said: "src/deep/" },
    { what: "a pattern with folders is matched from the start", params: { pattern: "src/**/*.json" }, said: "src/deep/d.json" },
    { what: "** is any depth, none too", params: { pattern: "**/*.txt" }, said: ".hidden/e.txt\na.txt\nbad.txt" },
    { what: "what lies in a folder", params: { pattern: "src/**" }, said: "src/c.ts\nsrc/deep/\nsrc/deep/d.json" },
    { what: "alternatives and sets", params: { pattern: "{[a-b],x}.t[!x]" }, said: "b.ts" },
    { what: "alternatives are all tried", params: { pattern: "{a,b}.{ts,txt}" }, said: "a.txt\nb.ts" },
    { what: "one character", params: { pattern: "?.ts" }, said: "b.ts\nsrc/c.ts" },
    { what: "paths come from the folder that is searched", params: { pattern: "*.json", path: "src" }, said: "deep/d.json" },
    {
      what: "the limit is reported when there is more",
      params: { pattern: "*", limit: 2 },
      said: ".hidden/\n.hidden/e.txt\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]",
      details: { resultLimitReached: 2 },
    },
    { what: "a missing pattern is reported", params: { pattern: " " }, said: /^Missing required parameter: pattern\./, isError: true },
    { what: "a missing path is reported", params: { pattern: "*", path: "none" }, said: "Path not found: none", isError: true },
    { what: "a file is no folder", params: { pattern: "*", path: "a.txt" }, said: "Not a directory: a.txt", isError: true },
    { what: "a device is no folder", params: { pattern: "*", path: "/dev/null" }, said: "Not a directory: /dev/null", isError: true },
    { what: "too many alternatives are reported", params: { pattern: "{a,b}".repeat(10) }, said: /^The pattern is too long or has too many/, isError: true },
  ])("$what", async (row) => check(findTool.create(deps), row));

  test("what .gitignore names is left out, by the nearest one, also from folders above", async () => {
    put({
      ".gitignore": "# build\n*.log\n/dist\nnode_modules/\n!keep.log\nsrc/gen/**\ndocs/*.pdf\n",
      "src/.gitignore": "!special.log\nlocal\r\n",
      "x.log": "",
      "keep.log": "",
      "dist/a": "",
      "lib/dist": "",
      "lib/node_modules/m": "",
      "src/x.log": "",
      "src/special.log": "",
      "src/local/a": "",
      "src/gen/deep/a": "",
      "docs/a.pdf": "",
      "docs/deep/a.pdf": "",
    });
    const all = text(await run(findTool.create(deps), { pattern: "*" })).split("\n");
    const kept = ["keep.log", "lib/dist", "src/special.log", "docs/deep/a.pdf"];
    expect(all).toEqual(expect.arrayContaining(kept));
    for (const gone of ["x.log", "dist/", "lib/node_modules/", "src/x.log", "src/local/", "src/gen/deep/", "docs/a.pdf", ".git/"])
      expect(all).not.toContain(gone);
    expect(text(await run(findTool.create(deps), { pattern: "*.log", path: "src" }))).toBe("special.log");
    // What is asked for by name is searched.
    expect(text(await run(findTool.create(deps), { pattern: "*", path: "dist" }))).toBe("a");
  });

  test("links are shown and not followed, so that a loop ends", async () => {
    symlinkSync("..", join(workspace, "src/up"));
    symlinkSync(".", join(workspace, "self"));
    expect(text(await run(findTool.create(deps), { pattern: "{up,self}" }))).toBe("self\nsrc/up");
    expect(text(await run(grepTool.create(deps), { pattern: "two" }))).toBe("src/c.ts:2: two");
  });

  test("folders deeper than any real one are passed over", async () => {
    const deep = join(workspace, "n/".repeat(150));
    mkdirSync(deep, { recursive: true });
    expect(text(await run(findTool.create(deps), { pattern: "n", limit: 1000 })).split("\n")).toHaveLength(100);
  });

  test("a pattern of many stars is no trouble", async () => {
    put({ ["a".repeat(200)]: "" });
    const find = async (): Promise<string> => text(await run(findTool.create(deps), { pattern: `${"*a".repeat(400)}b` }));
    expect(await threadMs(async () => expect(await find()).toBe("No files found matching pattern"))).toBeLessThan(1000);
  });
});

describe("ls", () => {
  beforeEach(() => put(TREE));

  test.each<Row>([
    { what: "the workspace is listed by name", params: {}, said: ".git/\n.hidden/\na.txt\nb.ts\nbad.txt\npicture.bin\nsrc/" },
    { what: "a folder is listed", params: { path: "src" }, said: "c.ts\ndeep/" },
    {
      what: "the limit is reported when there is more",
      params: { limit: 2 },
      said: ".git/\n.hidden/\n\n[2 entries limit reached. Use limit=4 for more]",
      details: { entryLimitReached: 2 },
    },
    { what: "a missing path is reported", params: { path: "none" }, said: "Path not found: none", isError: true },
    { what: "a file is no folder", params: { path: "a.txt" }, said: "Not a directory: a.txt", isError: true },
    { what: "a device is no folder", params: { path: "/dev/null" }, said: "Not a directory: /dev/null", isError: true },
  ])("$what", async (row) => check(lsTool.create(deps), row));

  test("an empty folder is reported, and links and upper case have their place", async () => {
    mkdirSync(join(workspace, "empty"));
    expect(text(await run(lsTool.create(deps), { path: "empty" }))).toBe("(empty directory)");
    put({ "case/B": "", "case/a": "", "case/c": "" });
    symlinkSync("a", join(workspace, "case/Bb"));
    expect(text(await run(lsTool.create(deps), { path: "case" }))).toBe("a\nB\nBb@\nc");
  });

  test("of a large folder the first by name are kept", async () => {
    mkdirSync(join(workspace, "large"));
    for (let n = 0; n < 2000; n += 1) writeFileSync(join(workspace, `large/${String((n * 7919) % 2000).padStart(5, "0")}`), "");
    const lines = text(await run(lsTool.create(deps), { path: "large" })).split("\n");
    expect(lines.slice(0, 3)).toEqual(["00000", "00001", "00002"]);
    expect(lines.slice(498)).toEqual(["00498", "00499", "", "[500 entries limit reached. Use limit=1000 for more]"]);
    expect(text(await run(findTool.create(deps), { pattern: "0199?" })).split("\n")).toHaveLength(10);
  });
});

describe("confined to the workspace", () => {
  const tools: readonly [string, (path: string) => Promise<ToolOutcome>][] = [
    ["grep", (path) => run(grepTool.create(deps), { pattern: "secret", path })],
    ["find", (path) => run(findTool.create(deps), { pattern: "*secret*", path })],
    ["ls", (path) => run(lsTool.create(deps), { path })],
  ];

  beforeEach(() => {
    mkdirSync(join(home, "outside"));
    writeFileSync(join(home, "outside/secret.txt"), "secret\n");
    symlinkSync(join(home, "outside"), join(workspace, "folder"));
    confined = true;
  });

  test.each(tools)("%s reaches nothing outside by path or link, and does when it is not confined", async (_, search) => {
    for (const path of ["..", "../outside", "folder", join(home, "outside"), "~/outside", "folder/."]) {
      const outcome = await search(path);
      expect(outcome.isError).toBe(true);
      expect(text(outcome)).toMatch(/^Path escapes sandbox root/);
    }
    confined = false;
    for (const path of ["../outside", "folder", "~/outside"]) expect(text(await search(path))).toContain("secret");
  });

  test("a file behind a link is not searched", async () => {
    symlinkSync(join(home, "outside/secret.txt"), join(workspace, "link.txt"));
    expect(text(await run(grepTool.create(deps), { pattern: "secret" }))).toBe("No matches found");
    expect(text(await run(grepTool.create(deps), { pattern: "secret", path: "link.txt" }))).toMatch(/^Path escapes sandbox root/);
  });

  test("a .gitignore behind a link has no say", async () => {
    writeFileSync(join(home, "outside/rules"), "*.txt\n");
    symlinkSync(join(home, "outside/rules"), join(workspace, ".gitignore"));
    put({ "a.txt": "" });
    expect(text(await run(findTool.create(deps), { pattern: "*.txt" }))).toBe("a.txt");
  });

  test("a folder that is swapped for a link while it is searched shows nothing from outside", async () => {
    put({ "swap/inner/mine.txt": "mine secret\n" });
    let swaps = 0;
    const over = new AbortController();
    const swapper = (async () => {
      while (!over.signal.aborted) {
        renameSync(join(workspace, "swap"), join(workspace, ".parked"));
        symlinkSync(join(home, "outside"), join(workspace, "swap"));
        await new Promise((next) => setImmediate(next));
        unlinkSync(join(workspace, "swap"));
        renameSync(join(workspace, ".parked"), join(workspace, "swap"));
        await new Promise((next) => setImmediate(next));
        swaps += 1;
      }
    })();
    const seen: string[] = [];
    for (let round = 0; round < 25; round += 1) {
      seen.push(text(await run(grepTool.create(deps), { pattern: "secret", path: "swap" })), text(await run(lsTool.create(deps), { path: "swap" })));
      seen.push(text(await run(findTool.create(deps), { pattern: "*.txt", path: "." })));
    }
    over.abort();
    await swapper;
    expect(swaps).toBeGreaterThan(20);
    expect(seen.filter((said) => said.includes("secret.txt"))).toEqual([]);
    expect(seen.some((said) => said.includes("mine"))).toBe(true);
    expect(seen.some((said) => said.includes("escapes"))).toBe(true);
  });

  test("pipes and sockets are neither opened nor waited for", async () => {
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    put({ "a.txt": "secret" });
    expect(text(await run(grepTool.create(deps), { pattern: "secret" }))).toBe("a.txt:1: secret");
    expect(text(await run(grepTool.create(deps), { pattern: "secret", path: "pipe" }))).toMatch(/pipe is no regular file$/);
    expect(text(await run(lsTool.create(deps), { path: "pipe" }))).toBe("Not a directory: pipe");
  });

  test("what may not be read is skipped below, and reported when it is asked for; root may read everything", async () => {
    const isRoot = process.getuid?.() === 0;
    put({ "closed/a.txt": "secret", "b.txt": "secret" });
    chmodSync(join(workspace, "closed"), 0);
    expect(text(await run(grepTool.create(deps), { pattern: "secret" }))).toBe(isRoot ? "b.txt:1: secret\nclosed/a.txt:1: secret" : "b.txt:1: secret");
    expect(text(await run(lsTool.create(deps), { path: "closed" }))).toMatch(isRoot ? /^a\.txt$/ : /may not be accessed by this user/);
    chmodSync(join(workspace, "closed"), 0o700);
  });
});
