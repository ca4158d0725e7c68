import * as fc from "fast-check";
import { expect, test } from "vitest";
import { threadMs } from "../../../base/thread-time.fixture.ts";
import { applyChunks } from "./chunks.ts";
import { parsePatch } from "./parse.ts";

const patch = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/** The patch lines that make `b` of `a`, with as little around each change as shows its place. */
function diff(a: readonly string[], b: readonly string[]): readonly string[] {
  const ops = edits(a, b);
  const lines: string[] = [];
  let cursor = 0;
  for (let at = 0, line = 0; at < ops.length;) {
    if (ops[at]!.kind === "keep") {
      at += 1;
      line += 1;
      continue;
    }
    const start = line;
    const body: string[] = [];
    const old: string[] = [];
    for (; at < ops.length && ops[at]!.kind !== "keep"; at += 1) {
      const { kind, text } = ops[at]!;
      body.push((kind === "drop" ? "-" : "+") + text);
      if (kind === "drop") old.push(a[line++]!);
    }
    // Lines before it until the first place that fits is this one; those after it when there are none before.
    let from = start;
    const first = (): number => a.findIndex((_, place) => place >= cursor && old.every((text, offset) => a[place + offset] === text));
    while (from > cursor && (old.length === 0 || first() !== from)) {
      from -= 1;
      old.unshift(a[from]!);
      body.unshift(` ${a[from]!}`);
    }
    if (old.length === 0 && line < a.length) {
      old.push(a[line]!);
      body.push(` ${a[line]!}`);
      at += 1;
      line += 1;
    }
    cursor = from + old.length;
    lines.push("@@", ...body);
  }
  return lines;
}

/** The longest lines in common stay. */
function edits(a: readonly string[], b: readonly string[]): readonly { kind: "keep" | "drop" | "add"; text: string }[] {
  const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) table[i]![j] = a[i] === b[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
  const ops: { kind: "keep" | "drop" | "add"; text: string }[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      ops.push({ kind: "keep", text: a[i]! });
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || table[i + 1]![j]! >= table[i]![j + 1]!)) ops.push({ kind: "drop", text: a[i++]! });
    else ops.push({ kind: "add", text: b[j++]! });
  }
  return ops;
}

test("for any two texts, the patch from one to the other makes the other", async () => {
  const line = fc.oneof(
    fc.constantFrom("", " ", "a", "b", "a ", "\ta", "*** End Patch", "*** End of File", "*** Update File: x", "@@", "@@ a", "+a", "-a", "“a”", '"a"', "<<EOF"),
    fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, "")),
  );
  const lines = fc.array(line, { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(lines, lines, fc.constantFrom("\n", "\r\n"), async (a, b, end) => {
      const changes = diff(a, b);
      fc.pre(changes.length > 0 && !(a.length === 0 && end === "\r\n"));
      const textOf = (all: readonly string[]): string => all.map((one) => one + end).join("");
      const [hunk] = parsePatch(patch("*** Update File: x", ...changes));
      expect(hunk?.kind).toBe("update");
      const chunks = hunk?.kind === "update" ? hunk.chunks : [];
      expect(await applyChunks(textOf(a), chunks, { path: "x", pause: async () => undefined })).toBe(textOf(b));
    }),
    { numRuns: 1000 },
  );
});

test("whatever a patch is, reading it ends with hunks or with a reason", () => {
  const piece = fc.constantFrom(
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File: a",
    "*** Update File: a",
    "*** Move to: b",
    "*** End of File",
    "@@",
    "@@ x",
    "+a",
    "-a",
    " a",
    "",
    "x",
    "<<EOF",
    "EOF",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      for (const input of [pieces.join("\n"), patch(...pieces)]) {
        try {
          expect(Array.isArray(parsePatch(input))).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: "INVALID_INPUT" });
        }
      }
    }),
  );
});

test("lines that repeat themselves are found without trying every place", async () => {
  const chunk = {
    lines: [...Array.from({ length: 20_000 }, () => ({ kind: "keep" as const, text: "a" })), { kind: "drop" as const, text: "b" }],
    atEnd: false,
  };
  const took = await threadMs(async () =>
    expect(await applyChunks(`${"a\n".repeat(200_000)}b\n`, [chunk], { path: "x", pause: async () => undefined })).toBe("a\n".repeat(200_000)),
  );
  expect(took).toBeLessThan(3000);
});
