import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../base/clock.ts";
import { createIds } from "../../../base/ids.ts";
import { seededRandom } from "../../../base/random.ts";
import type { ToolContext, ToolOutcome } from "../../tool.ts";
import { applyPatchTool, type ApplyPatchDeps } from "./apply-patch.ts";

let home: string;
let workspace: string;
let confined: boolean;
let deps: ApplyPatchDeps;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-patch-"));
  workspace = join(home, "workspace");
  mkdirSync(workspace);
  confined = true;
  deps = { ids: createIds(seededRandom(1)), workspaceOnly: () => false, patchWorkspaceOnly: () => confined, home, clock: systemClock };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function run(input: unknown): Promise<ToolOutcome> {
  const context: ToolContext = { agentId: "main", sessionKey: "k", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true };
  return applyPatchTool.create(deps).run({ id: "c", params: { input }, signal: new AbortController().signal, update: () => undefined, context });
}
const patch = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const text = ({ content }: ToolOutcome): string => content.map((part) => (part.type === "text" ? part.text : "?")).join("|");

type Files = Readonly<Record<string, string>>;

function put(files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
}

function all(folder = workspace, prefix = ""): Files {
  return Object.assign(
    {},
    ...readdirSync(folder, { withFileTypes: true }).map((entry) =>
      entry.isDirectory()
        ? all(join(folder, entry.name), `${prefix}${entry.name}/`)
        : { [prefix + entry.name]: readFileSync(join(folder, entry.name), "utf8") },
    ),
  ) as Files;
}

const OK = "Success. Updated the following files:";

describe("a patch", () => {
  test.each<{ what: string; before?: Files; lines: readonly string[]; after: Files; said?: string }>([
    {
      what: "adds a file with its folders",
      lines: ["*** Add File: a/b.txt", "+one", "+", "+two"],
      after: { "a/b.txt": "one\n\ntwo\n" },
      said: `${OK}\nA a/b.txt`,
    },
    { what: "adds an empty file", lines: ["*** Add File: a"], after: { a: "" } },
    { what: "adds over what is there", before: { a: "old" }, lines: ["*** Add File: a", "+new"], after: { a: "new\n" }, said: `${OK}\nA a` },
    { what: "deletes a file", before: { a: "x", b: "y" }, lines: ["*** Delete File: a"], after: { b: "y" }, said: `${OK}\nD a` },
    {
      what: "updates a file",
      before: { a: "1\n2\n3\n" },
      lines: ["*** Update File: a", "@@", " 1", "-2", "+two", " 3"],
      after: { a: "1\ntwo\n3\n" },
      said: `${OK}\nM a`,
    },
    { what: "needs no @@ for the first chunk", before: { a: "1\n2\n" }, lines: ["*** Update File: a", "-2", "+two"], after: { a: "1\ntwo\n" } },
    {
      what: "finds the place after a context line",
      before: { a: "def f\n  pass\ndef g\n  pass\n" },
      lines: ["*** Update File: a", "@@ def g", "-  pass", "+  return"],
      after: { a: "def f\n  pass\ndef g\n  return\n" },
    },
    {
      what: "goes from chunk to chunk",
      before: { a: "x\n1\nx\n2\nx\n" },
      lines: ["*** Update File: a", "@@", "-x", "+a", "@@", "-x", "+b", "@@", "-x", "+c"],
      after: { a: "a\n1\nb\n2\nc\n" },
    },
    {
      what: "finds the end of a file",
      before: { a: "x\ny\nx\n" },
      lines: ["*** Update File: a", "@@", "-x", "+z", "*** End of File"],
      after: { a: "x\ny\nz\n" },
    },
    { what: "appends what has no place", before: { a: "1" }, lines: ["*** Update File: a", "@@", "+2"], after: { a: "1\n2\n" } },
    {
      what: "moves a file",
      before: { a: "1\n" },
      lines: ["*** Update File: a", "*** Move to: d/b", "@@", "-1", "+2"],
      after: { "d/b": "2\n" },
      said: `${OK}\nM d/b`,
    },
    { what: "moves a file as it is", before: { a: "1\n" }, lines: ["*** Update File: a", "*** Move to: b"], after: { b: "1\n" } },
    {
      what: "takes blanks at line ends as the same, and leaves lines that stay as they are",
      before: { a: "keep  \nold\t\nrest\n" },
      lines: ["*** Update File: a", " keep", "-old", "+new"],
      after: { a: "keep  \nnew\nrest\n" },
    },
    {
      what: "takes indentation as the same",
      before: { a: "    keep\n    old\n" },
      lines: ["*** Update File: a", " keep", "-old", "+new"],
      after: { a: "    keep\nnew\n" },
    },
    {
      what: "takes signs that look alike as the same",
      before: { a: "say “hi” – now\n" },
      lines: ["*** Update File: a", '-say "hi" - now', "+done"],
      after: { a: "done\n" },
    },
    {
      what: "passes over an empty line of its own",
      before: { a: "1\n2\n" },
      lines: ["*** Update File: a", "-2", "+two", "", "*** Add File: b"],
      after: { a: "1\ntwo\n", b: "" },
    },
    { what: "keeps line ends", before: { a: "1\r\n2\r\n3" }, lines: ["*** Update File: a", " 1", "-2", "+two"], after: { a: "1\r\ntwo\r\n3\r\n" } },
    { what: "keeps a mark at the beginning", before: { a: "\uFEFF1\n2\n" }, lines: ["*** Update File: a", "-1", "+one"], after: { a: "\uFEFFone\n2\n" } },
    { what: "can leave nothing", before: { a: "1\n" }, lines: ["*** Update File: a", "-1"], after: { a: "" } },
    {
      what: "sees what its earlier parts did",
      before: { a: "1\n" },
      lines: ["*** Update File: a", "-1", "+2", "*** Update File: a", "-2", "+3", "*** Add File: b", "+x", "*** Delete File: b", "*** Add File: c", "+y"],
      after: { a: "3\n", c: "y\n" },
      said: `${OK}\nA b\nA c\nM a\nD b`,
    },
  ])("$what", async ({ before = {}, lines, after, said }) => {
    put(before);
    const outcome = await run(patch(...lines));
    expect(text(outcome)).toMatch(/^Success\./);
    if (said !== undefined) expect(text(outcome)).toBe(said);
    expect(outcome.isError).toBe(false);
    expect(all()).toEqual(after);
  });

  test.each<[string, (inner: string) => string]>([
    ["blanks around its marks", (inner) => `\n  ${inner.replace("*** End Patch", " *** End Patch ")}\n\n`],
    ["a here-document around it", (inner) => `<<'EOF'\n${inner}\nEOF`],
    ["another here-document around it", (inner) => `<<PATCH\n${inner}\nPATCH\n`],
    ["Windows line ends", (inner) => inner.replaceAll("\n", "\r\n")],
  ])("may have %s", async (_, wrap) => {
    put({ a: "1\n2\n" });
    expect(text(await run(wrap(patch("*** Update File: a", " 1", "-2", "+two", "*** Add File: b", "+x"))))).toBe(`${OK}\nA b\nM a`);
    expect(all()).toEqual({ a: "1\ntwo\n", b: "x\n" });
  });

  test("tells what it did, for machines", async () => {
    put({ a: "1\n", b: "" });
    const { details } = await run(patch("*** Update File: a", "-1", "+2", "*** Delete File: b", "*** Add File: c", "+x"));
    expect(details).toEqual({ summary: { added: ["c"], modified: ["a"], deleted: ["b"] } });
  });
});

describe("a patch that does not fit changes nothing and says why:", () => {
  const first = ["*** Add File: new", "+x"];

  test.each<[string, unknown, string | RegExp]>([
    ["no input", undefined, "Provide a patch input."],
    ["blank input", "  \n", "Provide a patch input."],
    ["an empty patch", patch(), "No files were modified."],
    ["no beginning", "*** Add File: a", "Invalid patch: The first line of the patch must be '*** Begin Patch'"],
    ["no end", "*** Begin Patch\n*** Add File: a\n+x", "Invalid patch: The last line of the patch must be '*** End Patch'"],
    ["an unknown header", patch(...first, "*** Change File: a"), /^Invalid patch hunk on line 4: '\*\*\* Change File: a' is not a valid hunk header/],
    ["a line without a sign", patch(...first, "*** Update File: a", "@@", "x"), /^Invalid patch hunk on line 6: Unexpected line found in update hunk: 'x'/],
    ["an update without chunks", patch(...first, "*** Update File: a"), /^Invalid patch hunk on line 5: Update file hunk for path 'a' is empty/],
    ["a chunk without lines", patch(...first, "*** Update File: a", "@@ x"), /^Invalid patch hunk on line 6: a chunk has no lines/],
    ["no path", patch("*** Add File:  "), /is not a valid hunk header|a path is expected/],
    ["lines that are not there", patch(...first, "*** Update File: a", "-nowhere", "+x"), "Failed to find expected lines in a:\nnowhere"],
    ["a context that is not there", patch(...first, "*** Update File: a", "@@ nowhere", "+x"), "Failed to find context 'nowhere' in a"],
    ["lines that are not at the end", patch(...first, "*** Update File: a", "-1", "*** End of File"), /^Failed to find expected lines in a/],
    ["chunks in the wrong order", patch(...first, "*** Update File: a", "-2", "@@", "-1"), /^Failed to find expected lines in a/],
    ["an update of a file that is not there", patch(...first, "*** Update File: none", "-1"), /none does not exist/],
    ["a deletion of a file that is not there", patch(...first, "*** Delete File: none"), "Failed to delete file none: it does not exist"],
    ["a second deletion", patch(...first, "*** Delete File: a", "*** Delete File: a"), "Failed to delete file a: it does not exist"],
    ["an update of what it deletes", patch("*** Delete File: a", "*** Update File: a", "-1"), /the patch deletes it/],
    ["a deletion of a folder", patch(...first, "*** Delete File: folder"), "Failed to delete file folder: it is a folder"],
    ["a file where a folder is", patch(...first, "*** Add File: folder", "+x"), /folder is a folder$/],
    ["a folder where a file is", patch(...first, "*** Add File: a/b", "+x"), /has a file where a folder is needed/],
    ["a file that is also a folder", patch(...first, "*** Add File: n", "*** Add File: n/m"), /cannot be a file and the folder of/],
    ["a path outside", patch(...first, "*** Add File: ../out", "+x"), /^Path escapes sandbox root/],
    ["an absolute path outside", patch(...first, "*** Add File: /tmp/openclaw-out", "+x"), /^Path escapes sandbox root/],
    ["a deletion outside", patch(...first, "*** Delete File: ../secret"), /^Path escapes sandbox root/],
    ["a move outside", patch(...first, "*** Update File: a", "*** Move to: ../out", "-1"), /^Path escapes sandbox root/],
    ["a link that leads out", patch(...first, "*** Update File: link", "-secret", "+x"), /^Path escapes sandbox root/],
    ["an addition over a link that leads out", patch(...first, "*** Add File: link", "+x"), /^Path escapes sandbox root/],
    ["a folder behind a link", patch(...first, "*** Add File: linked/new/file", "+x"), /^Path escapes sandbox root/],
    ["a pipe", patch(...first, "*** Update File: pipe", "-1"), /pipe is no regular file$/],
    ["an addition over a pipe", patch(...first, "*** Add File: pipe", "+1"), /pipe is no regular file$/],
    ["a huge file", patch(...first, "*** Update File: huge", "-1"), /^huge is larger than 10 MB/],
    ["a file of too many lines", patch(...first, "*** Update File: many", "-1"), /^many has more than 1000000 lines/],
    ["what is not UTF-8", patch(...first, "*** Update File: bytes", "-1"), /^bytes is not UTF-8 text/],
  ])("%s", async (_, input, said) => {
    writeFileSync(join(home, "secret"), "secret\n");
    put({ a: "1\n2\n", "folder/x": "", bytes: "", huge: "", many: "\n".repeat(1_000_001) });
    writeFileSync(join(workspace, "bytes"), Buffer.from([0x31, 0x0a, 0xff, 0xfe]));
    truncateSync(join(workspace, "huge"), 10 * 1024 ** 3);
    symlinkSync(join(home, "secret"), join(workspace, "link"));
    symlinkSync(home, join(workspace, "linked"));
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    const names = readdirSync(workspace);
    const outcome = await run(input);
    if (typeof said === "string") expect(text(outcome)).toBe(said);
    else expect(text(outcome)).toMatch(said);
    expect(outcome.isError).toBe(true);
    expect(readdirSync(workspace)).toEqual(names);
    expect(readFileSync(join(workspace, "a"), "utf8")).toBe("1\n2\n");
    expect([readdirSync(home), readFileSync(join(home, "secret"), "utf8")]).toEqual([["secret", "workspace"], "secret\n"]);
  });
});

test("a link is deleted, not what it names; outside is reached when patches may", async () => {
  writeFileSync(join(home, "secret"), "secret\n");
  symlinkSync(join(home, "secret"), join(workspace, "link"));
  expect(text(await run(patch("*** Delete File: link")))).toBe(`${OK}\nD link`);
  expect([existsSync(join(workspace, "link")), readFileSync(join(home, "secret"), "utf8")]).toEqual([false, "secret\n"]);
  confined = false;
  expect(text(await run(patch("*** Update File: ../secret", "-secret", "+changed")))).toBe(`${OK}\nM ${join(home, "secret")}`);
  expect(readFileSync(join(home, "secret"), "utf8")).toBe("changed\n");
});

test("a move onto another name of the same file loses nothing", async () => {
  put({ a: "1\n" });
  symlinkSync("a", join(workspace, "b"));
  await run(patch("*** Update File: a", "*** Move to: b", "-1", "+2"));
  expect(readFileSync(join(workspace, "a"), "utf8")).toBe("2\n");
});

test("a failure in the middle says what was done", async () => {
  put({ a: "1\n", "d/b": "1\n" });
  const at = join(workspace, "d");
  const racing: ApplyPatchDeps = { ...deps, ids: { hex: (bytes) => (rmSync(at, { recursive: true, force: true }), writeFileSync(at, ""), "f".repeat(bytes)) } };
  deps = racing;
  const outcome = await run(patch("*** Update File: a", "-1", "+2", "*** Update File: d/b", "-1", "+2"));
  expect(outcome.isError).toBe(true);
  expect(text(outcome)).toMatch(/\nBefore that: wrote a\.$/);
  expect(readFileSync(join(workspace, "a"), "utf8")).toBe("2\n");
});

test("a folder that is swapped for a link meanwhile leads nothing out", async () => {
  mkdirSync(join(home, "outside"));
  put({ "swap/a": "1\n" });
  const swap = join(workspace, "swap");
  // The tool may create the folder again in between; then it is removed again.
  const insist = (act: () => void): void => {
    for (;;) {
      try {
        return act();
      } catch {
        rmSync(swap, { recursive: true, force: true, maxRetries: 3 });
      }
    }
  };
  const over = new AbortController();
  let swaps = 0;
  const swapper = (async () => {
    while (!over.signal.aborted) {
      renameSync(swap, join(workspace, ".parked"));
      insist(() => symlinkSync(join(home, "outside"), swap));
      await new Promise((next) => setImmediate(next));
      unlinkSync(swap);
      insist(() => renameSync(join(workspace, ".parked"), swap));
      await new Promise((next) => setImmediate(next));
      swaps += 1;
    }
  })();
  const ends = { done: 0, refused: 0 };
  for (let round = 0; round < 25; round += 1) {
    const { isError } = await run(patch("*** Add File: swap/a", `+${round}`));
    ends[isError ? "refused" : "done"] += 1;
  }
  over.abort();
  await swapper;
  expect(swaps).toBeGreaterThan(20);
  expect(ends.refused).toBeGreaterThan(0);
  expect(readdirSync(join(home, "outside"))).toEqual([]);
  expect(lstatSync(join(workspace, "swap")).isDirectory()).toBe(true);
});
