import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createIds } from "../../../base/ids.ts";
import { seededRandom } from "../../../base/random.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../tool.ts";
import { editTool } from "./edit.ts";
import { filesFor, type FileToolsDeps } from "./paths.ts";
import { readTool } from "./read.ts";
import { writeTool } from "./write.ts";

let home: string;
let workspace: string;
let confined: boolean;
let deps: FileToolsDeps;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openclaw-files-"));
  workspace = join(home, "workspace");
  mkdirSync(workspace);
  confined = false;
  deps = { ids: createIds(seededRandom(1)), workspaceOnly: () => confined, home };
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function run(tool: Tool, params: Record<string, unknown>, rest: Partial<ToolContext> = {}): Promise<ToolOutcome> {
  const context: ToolContext = { agentId: "main", sessionKey: "k", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true, ...rest };
  return tool.run({ id: "c", params, signal: new AbortController().signal, update: () => undefined, context });
}
const text = ({ content }: ToolOutcome): string => content.map((part) => (part.type === "text" ? part.text : `<${part.mimeType}>`)).join("|");
const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(workspace, name), content);
const at = (name: string): string => readFileSync(join(workspace, name), "utf8");

describe("read", () => {
  test("of a huge file only what is needed is read, and that is said", async () => {
    put("line", "x".repeat(10_000));
    truncateSync(join(workspace, "line"), 10 * 1024 ** 3);
    put("many", "x\n".repeat(5000));
    truncateSync(join(workspace, "many"), 10 * 1024 ** 3);
    expect(text(await run(readTool.create(deps), { path: "line" }))).toMatch(
      /^x+\0+\n\n\[Line 1, characters 1-51200 of more than \d+\. Use offset=1 column=51201 to continue\.\]$/,
    );
    expect(text(await run(readTool.create(deps), { path: "many", limit: 2 }))).toMatch(/^x\nx\n\n\[more than 4998 more lines in file\. Use offset=3/);
    expect(text(await run(readTool.create(deps), { path: "many", offset: 9000 }))).toMatch(/^The file is too large to look for line 9000/);
  });

  test.each<[string, Record<string, unknown>]>([
    ["from the workspace", { path: "a.txt" }],
    ["under its other name", { file_path: "a.txt" }],
    ["with an @ in front", { path: "@a.txt" }],
    ["from home", { path: "~/workspace/a.txt" }],
    ["with odd spaces around", { path: " a.txt " }],
  ])("a file is found %s", async (_, params) => {
    put("a.txt", "one\ntwo\n");
    expect(text(await run(readTool.create(deps), params))).toBe("one\ntwo");
  });

  test("a page ends with how to go on", async () => {
    put("a.txt", Array.from({ length: 5 }, (_, n) => `line ${n + 1}`).join("\n"));
    expect(text(await run(readTool.create(deps), { path: "a.txt", offset: 2, limit: 2 }))).toBe(
      "line 2\nline 3\n\n[2 more lines in file. Use offset=4 to continue.]",
    );
    expect(text(await run(readTool.create(deps), { path: "a.txt", offset: 4 }))).toBe("line 4\nline 5");
  });

  test("a large file is cut to what fits, by whole lines", async () => {
    put("large.txt", `${"x".repeat(999)}\n`.repeat(300));
    const said = await run(readTool.create(deps), { path: "large.txt" });
    expect(text(said)).toMatch(/\[Showing lines 1-51 of 300 \(50\.0KB limit\)\. Use offset=52 to continue\.\]$/);
    const wide = await run(readTool.create(deps), { path: "large.txt" }, { contextWindow: 200_000 });
    expect(text(wide)).toMatch(/Showing lines 1-160 of 300 \(156\.3KB limit\)/);
  });

  test("a line that is longer than a page is read in parts", async () => {
    const line = Array.from({ length: 40_000 }, (_, n) => (n % 1000 === 0 ? "é😀" : `${n % 10}`)).join("");
    put("line.json", `first\n${line}\nlast\n`);
    let all = "";
    for (let column = 1; all.length < line.length;) {
      const said = text(await run(readTool.create(deps), { path: "line.json", offset: 2, column, limit: 1 }));
      const [, shown, from, to, total] = /^([^]*)\n\n\[Line 2, characters (\d+)-(\d+) of (\d+)\./.exec(said)!;
      expect([Number(from), Number(total)]).toEqual([column, line.length]);
      all += shown!;
      column = Number(to) + 1;
    }
    expect(all).toBe(line);
    put("huge.json", "y".repeat(120_000));
    expect(text(await run(readTool.create(deps), { path: "huge.json" }))).toMatch(
      /^y{51200}\n\n\[Line 1, characters 1-51200 of 120000\. Use offset=1 column=51201 to continue\.\]$/,
    );
    expect(text(await run(readTool.create(deps), { path: "huge.json", column: 102_401 }))).toMatch(
      /characters 102401-120000 of 120000\. Use offset=2 for the next line\.\]$/,
    );
    expect(text(await run(readTool.create(deps), { path: "huge.json", column: 999_999 }))).toBe(
      "Column 999999 is beyond the end of line 1 (120000 characters)",
    );
  });

  test.each<[string, Buffer, string]>([
    ["UTF-16LE", Buffer.from("\uFEFFGrüße\nzwei", "utf16le"), "UTF-16LE"],
    ["UTF-16BE", Buffer.from("\uFEFFGrüße\nzwei", "utf16le").swap16(), "UTF-16BE"],
    ["Latin-1", Buffer.from("Grüße\nzwei", "latin1"), "Latin-1"],
  ])("a text in %s is shown as text, with a note; edit leaves it alone", async (_name, bytes, shown) => {
    put("old.txt", bytes);
    expect(text(await run(readTool.create(deps), { path: "old.txt" }))).toMatch(new RegExp(`^Grüße\nzwei\\|\\[The file is in ${shown}.* not UTF-8`));
    expect(text(await run(editTool.create(deps), { path: "old.txt", oldText: "zwei", newText: "drei" }))).toMatch(/is not UTF-8 text/);
    expect(readFileSync(join(workspace, "old.txt"))).toEqual(bytes);
  });

  test("a text in UTF-8 with a damaged character stays one", async () => {
    put("cut.txt", Buffer.concat([Buffer.from("日本語の文章"), Buffer.from([0xe9, 0x0a])]));
    expect(text(await run(readTool.create(deps), { path: "cut.txt" }))).toBe("日本語の文章\uFFFD");
  });

  test("an offset beyond the end and a missing path are reported", async () => {
    put("long.txt", "x".repeat(100_000));
    expect(text(await run(readTool.create(deps), { path: "long.txt", offset: 9 }))).toBe("Offset 9 is beyond the end of the file (1 lines)");
    expect(text(await run(readTool.create(deps), {}))).toBe("Missing required parameter: path. Supply correct parameters before retrying.");
    await expect(run(readTool.create(deps), { path: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a picture comes as a picture, whatever its name", async () => {
    put("photo.txt", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]));
    expect(text(await run(readTool.create(deps), { path: "photo.txt" }))).toBe("Read image file [image/png]|<image/png>");
  });

  test("a binary file is described, not printed; texts in any script are no such file", async () => {
    put("a.zip", Buffer.concat([Buffer.from([0x50, 0x4b, 0x03, 0x04, 0, 0]), Buffer.alloc(2000, 0xe9)]));
    const said = await run(readTool.create(deps), { path: "a.zip" });
    expect(text(said)).toMatch(/^a\.zip is a binary file \(application\/zip, 2\.0KB\), so it is not shown\. It begins with the bytes 50 4b 03 04 00 00 e9/);
    expect(said).toMatchObject({ isError: false, details: { binary: true, mimeType: "application/zip", size: 2006 } });
    put("noise.txt", Buffer.alloc(3000, 0xe9));
    expect(text(await run(readTool.create(deps), { path: "noise.txt" }))).toContain("is a binary file");
    expect(text(await run(editTool.create(deps), { path: "noise.txt", oldText: "a", newText: "b" }))).toContain("is a binary file");
    put("script.txt", "日本語の文章 ".repeat(2000));
    expect(text(await run(readTool.create(deps), { path: "script.txt" }))).toMatch(/^日本語/);
  });

  test("with workspaceOnly nothing outside is reached, by path or by link", async () => {
    writeFileSync(join(home, "secret"), "secret");
    symlinkSync(join(home, "secret"), join(workspace, "link"));
    confined = true;
    for (const path of ["../secret", "link", join(home, "secret"), "~/secret"]) {
      await expect(run(readTool.create(deps), { path })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
      await expect(run(writeTool.create(deps), { path, content: "x" })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    }
    expect(readFileSync(join(home, "secret"), "utf8")).toBe("secret");
  });
});

describe("write", () => {
  test("a file is made with its folders, replaced, and may be empty", async () => {
    expect(text(await run(writeTool.create(deps), { path: "a/b.txt", content: "hällo" }))).toBe("Successfully wrote 5 bytes to a/b.txt");
    expect(at("a/b.txt")).toBe("hällo");
    await run(writeTool.create(deps), { path: "a/b.txt", content: "" });
    expect(at("a/b.txt")).toBe("");
    await run(writeTool.create(deps), { path: "a/b.txt", content: [{ text: "one " }, { content: "two" }] });
    expect(at("a/b.txt")).toBe("one two");
    expect(text(await run(writeTool.create(deps), {}))).toBe("Missing required parameters: path, content. Supply correct parameters before retrying.");
  });
});

describe("edit", () => {
  test.each<{ what: string; before: string; old: string; now: string; after: string }>([
    { what: "one text is replaced", before: "a\nb\nc\n", old: "b", now: "B", after: "a\nB\nc\n" },
    { what: "a text can be taken away", before: "a\nb\nc\n", old: "b\n", now: "", after: "a\nc\n" },
    { what: "line ends stay as they were", before: "a\r\nb\r\nc\r\n", old: "a\nb", now: "x\ny", after: "x\r\ny\r\nc\r\n" },
    { what: "a mark at the beginning stays", before: "\uFEFFa\nb", old: "b", now: "c", after: "\uFEFFa\nc" },
    {
      what: "quotes, dashes and line-end spaces that look alike match, and the rest of the file stays",
      before: "say “hi”  \nb – c\nkeep “this”\n",
      old: 'say "hi"\nb - c',
      now: "done",
      after: "done\nkeep “this”\n",
    },
  ])("$what", async ({ before, old, now, after }) => {
    put("f.txt", before);
    const outcome = await run(editTool.create(deps), { path: "f.txt", oldText: old, newText: now });
    expect(text(outcome)).toBe("Successfully replaced text in f.txt.");
    expect(at("f.txt")).toBe(after);
  });

  test("the change is shown with numbers", async () => {
    put("f.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10");
    expect((await run(editTool.create(deps), { path: "f.txt", oldText: "6\n", newText: "six\nand a half\n" })).details).toEqual({
      diff: "  2 2\n  3 3\n  4 4\n  5 5\n- 6 6\n+ 6 six\n+ 7 and a half\n  8 7\n  9 8\n 10 9\n 11 10",
      firstChangedLine: 6,
    });
  });

  test("several replacements are made in their order, all of them or none", async () => {
    put("f.txt", "one\ntwo\nthree\n");
    const edits = [
      { oldText: "one", newText: "1" },
      { old_string: "1\ntwo", new_string: "1\n2" },
      { oldText: "three\n", newText: "" },
    ];
    const outcome = await run(editTool.create(deps), { path: "f.txt", edits });
    expect(text(outcome)).toBe("Successfully replaced 3 texts in f.txt.");
    expect(at("f.txt")).toBe("1\n2\n");
    expect(outcome.details).toMatchObject({ firstChangedLine: 1, diff: expect.stringContaining("-3 three") as string });
    const failed = await run(editTool.create(deps), {
      path: "f.txt",
      edits: [
        { oldText: "1", newText: "x" },
        { oldText: "one", newText: "y" },
      ],
    });
    expect(text(failed)).toMatch(/^Nothing was changed\. edits\[1\]: Could not find the exact text in f\.txt\./);
    expect(at("f.txt")).toBe("1\n2\n");
    expect(text(await run(editTool.create(deps), { path: "f.txt", edits: [{ oldText: "1" }] }))).toMatch(/^Missing required parameter: edits\[0\]\.newText\./);
  });

  test("replaceAll beside a list is for all of it, unless one says otherwise", async () => {
    put("f.txt", "x y y");
    const edits = [
      { oldText: "x", newText: "1" },
      { oldText: "y", newText: "2" },
    ];
    expect(text(await run(editTool.create(deps), { path: "f.txt", replaceAll: true, edits }))).toBe("Successfully replaced 3 texts in f.txt.");
    expect(at("f.txt")).toBe("1 2 2");
    const one = [{ oldText: "2", newText: "3", replaceAll: false }];
    expect(text(await run(editTool.create(deps), { path: "f.txt", replaceAll: true, edits: one }))).toContain("Found 2 occurrences");
  });

  test("replaceAll replaces every occurrence", async () => {
    put("f.txt", "a\r\nab\r\nb\r\n");
    expect(text(await run(editTool.create(deps), { path: "f.txt", oldText: "a", newText: "aa", replaceAll: true }))).toBe(
      "Successfully replaced 2 texts in f.txt.",
    );
    expect(at("f.txt")).toBe("aa\r\naab\r\nb\r\n");
    await run(editTool.create(deps), {
      path: "f.txt",
      edits: [
        { old_string: "aa", new_string: "", replace_all: true },
        { oldText: "\nb\n", newText: "\nc\n", replaceAll: true },
      ],
    });
    expect(at("f.txt")).toBe("\r\nc\r\nb\r\n");
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ["twice", { oldText: "a", newText: "b" }, /^Found 2 occurrences of the text in f\.txt\./],
    ["nowhere", { oldText: "zzz", newText: "b" }, /^Could not find the exact text in f\.txt\./],
    ["unchanged", { oldText: "a\na", newText: "a\na" }, /^No changes made to f\.txt\./],
    ["missing", { oldText: "", newText: "b" }, /^Missing required parameter: oldText\./],
    ["no file", { path: "none.txt", oldText: "a", newText: "b" }, /^File not found: none\.txt/],
  ])("a text that is %s is reported, and the file stays", async (_, params, expected) => {
    put("f.txt", "a\na");
    const outcome = await run(editTool.create(deps), { path: "f.txt", ...params });
    expect(outcome.isError).toBe(true);
    expect(text(outcome)).toMatch(expected);
    expect(at("f.txt")).toBe("a\na");
  });
});

describe("in a sandbox", () => {
  const context = (): ToolContext => ({ agentId: "main", sessionKey: "s", sessionId: "s", runId: "r", workspaceDir: workspace, owner: true });
  const call = () => ({ id: "c", context: context(), signal: new AbortController().signal });

  function placed(readOnly = false) {
    const [own, extra] = [join(home, "own"), join(home, "extra")];
    for (const folder of [own, extra]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(own, "f.txt"), "own");
    writeFileSync(join(extra, "f.txt"), "extra");
    writeFileSync(join(workspace, "f.txt"), "the agent's");
    const mounts = [
      { inside: "/workspace", host: own, writable: true },
      { inside: "/agent", host: workspace, writable: false },
      { inside: "/workspace/deep", host: extra, writable: true },
    ] as const;
    return { ...deps, place: () => ({ mounts, readOnly, ready: () => Promise.resolve() }) };
  }

  test.each([
    ["f.txt", "own"],
    ["./a/../f.txt", "own"],
    ["/workspace/f.txt", "own"],
    ["/agent/f.txt", "the agent's"],
    ["/workspace/deep/f.txt", "extra"],
    ["deep/f.txt", "extra"],
    ["../f.txt", undefined],
    ["/workspace/../etc/passwd", undefined],
    ["/etc/passwd", undefined],
    ["~/.profile", undefined],
    ["/workspaces/f.txt", undefined],
  ])("%s is read as %s", async (path, content) => {
    const answer = run(readTool.create(placed()), { path });
    if (content === undefined)
      await expect(answer).rejects.toMatchObject({ message: expect.stringMatching(/^(Path escapes sandbox root|Sandbox FS error \(ENOENT\): )/) });
    else expect(text(await answer)).toBe(content);
  });

  test("the host's own path of what is shown means the same", async () => {
    expect(text(await run(readTool.create(placed()), { path: join(home, "extra/f.txt") }))).toBe("extra");
  });

  test("writing and editing change what is shown, and only where that may be", async () => {
    const files = placed();
    await run(writeTool.create(files), { path: "new/n.txt", content: "n" });
    expect(readFileSync(join(home, "own/new/n.txt"), "utf8")).toBe("n");
    await run(editTool.create(files), { path: "/workspace/f.txt", oldText: "own", newText: "changed" });
    expect(readFileSync(join(home, "own/f.txt"), "utf8")).toBe("changed");
    await expect(run(writeTool.create(files), { path: "/agent/f.txt", content: "x" })).rejects.toThrow(
      "Sandbox path is read-only; cannot write files: /agent/f.txt",
    );
    for (const [tool, params] of [
      [writeTool.create(placed(true)), { path: "f.txt", content: "x" }],
      [editTool.create(placed(true)), { path: "f.txt", oldText: "own", newText: "x" }],
    ] as const) {
      await expect(run(tool, params)).rejects.toThrow(/^Sandbox path is read-only; cannot write files: /);
    }
    await expect(filesFor("read", call(), placed(true)).remove("/workspace/f.txt")).rejects.toThrow(
      "Sandbox path is read-only; cannot remove files: /workspace/f.txt",
    );
    expect(readFileSync(join(workspace, "f.txt"), "utf8")).toBe("the agent's");
  });

  test("folders are looked into the same way", async () => {
    await using folder = await filesFor("read", call(), placed()).folder("/agent");
    expect((await folder.read(10)).map(({ name }) => name)).toContain("f.txt");
    await expect(filesFor("read", call(), placed()).folder("/etc")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });
});
