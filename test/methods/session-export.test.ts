import { afterEach, beforeEach, expect, test } from "vitest";
import { openMethods, type MethodFixture } from "../harness/methods.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";
import type { EntryInput } from "../../src/store/index.ts";

const KEY = "agent:main:main";
let fixture: MethodFixture;
beforeEach(async () => {
  fixture = await openMethods();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const seed = (entries: readonly EntryInput[]) => seedSession(fixture.store, entries, KEY);

async function exported(
  format: "json" | "jsonl" | "markdown" | "html",
  sessionKey = "main",
): Promise<{ readonly text: string; readonly parts: number; readonly name: string }> {
  const parts: string[] = [];
  for (let after: number | undefined; ;) {
    const got = await fixture.call("sessions.export", { key: sessionKey, format, ...(after === undefined ? {} : { after }) });
    expect(Buffer.byteLength(got.text)).toBeLessThanOrEqual(1024 * 1024);
    // Each part may be written by itself.
    expect(got.text.isWellFormed()).toBe(true);
    parts.push(got.text);
    if (got.next === undefined) return { text: parts.join(""), parts: parts.length, name: got.name };
    after = got.next;
  }
}

test("an exported transcript put together is the stored one, also of 5,000 entries and with lines longer than a part", async () => {
  const entries = Array.from({ length: 5000 }, (_, n) => {
    const parent = n === 0 ? null : n % 1000 === 999 ? `e${n - 3}` : `e${n - 1}`;
    return line(`e${n}`, parent, said(n === 2500 ? "é😀".repeat(700_000) : `${n} ${"x".repeat(n % 700)}`), n);
  });
  const file = await seed(entries);
  const header = (await fixture.store.read("transcripts.page", { file, limit: 1 }))[0]!.line;
  const { text, parts, name } = await exported("jsonl");
  expect(text === [header, ...entries.map((entry) => entry.line)].map((one) => `${one}\n`).join("")).toBe(true);
  expect(parts).toBeGreaterThan(4);
  expect(name).toBe("agent-main-main-s1.jsonl");
  const markdown = await exported("markdown");
  const way = await fixture.store.read("transcripts.path", { file });
  expect(markdown.text.split(/^## User · .* UTC$/m).length).toBe(way.length + 1);
  expect(["996", "997", "998", "999"].map((n) => markdown.text.includes(`\n${n} `))).toEqual([true, false, false, true]);
});

test("as JSON it is one document with every line, also of many parts and with a line that is damaged", async () => {
  const entries = Array.from({ length: 1500 }, (_, n) =>
    line(`e${n}`, n === 0 ? null : `e${n - 1}`, said(`${n} ${"x".repeat(n === 700 ? 1_400_000 : 900)}`), n),
  );
  const damaged = { ...entries[3]!, line: '{"type":"message","id":"e3' };
  await seed([...entries.slice(0, 3), damaged, ...entries.slice(4)]);
  const { text, parts, name } = await exported("json");
  const document = JSON.parse(text) as { readonly sessionKey: string; readonly sessionId: string; readonly entries: readonly unknown[] };
  expect([parts > 2, name, document.sessionKey, document.sessionId]).toEqual([true, "agent-main-main-s1.json", KEY, "s1"]);
  expect(document.entries).toHaveLength(1501);
  expect(document.entries[0]).toMatchObject({ type: "session" });
  expect(document.entries[4]).toBe(damaged.line);
  expect(document.entries[1500]).toEqual(JSON.parse(entries[1499]!.line));
});

test.each(["", "x"])("a long line is not cut inside of a character (%j)", async (before) => {
  const entry = line("a", null, said(`${before}${"😀".repeat(400_000)}`), 1);
  await seed([entry]);
  const { text, parts } = await exported("jsonl");
  expect([text.endsWith(`${entry.line}\n`), parts > 1]).toEqual([true, true]);
});

test("Markdown names who spoke and when, and holds results in fences that they cannot end", async () => {
  await seed([
    line("a", null, said("[Sun 2026-01-05 16:26 UTC] hello"), 1000),
    line(
      "b",
      "a",
      {
        message: {
          role: "assistant",
          content: [
            { type: "text", text: "Let me look." },
            { type: "toolCall", id: "t", name: "read", arguments: { path: "a" } },
          ],
        },
      },
      2000,
    ),
    line("c", "b", { message: { role: "toolResult", toolName: "read", isError: true, content: [{ type: "text", text: "```\n# not a heading" }] } }, 3000),
  ]);
  const { text, name } = await exported("markdown");
  expect(name).toBe("agent-main-main-s1.md");
  expect(text).toBe(
    [
      "# agent:main:main\n\nSession `agent:main:main`, `s1`",
      "## User · 2026-01-01 00:00:01 UTC\n\nhello",
      '## Assistant · 2026-01-01 00:00:02 UTC\n\nLet me look.\n\nCalls `read`:\n\n```json\n{\n  "path": "a"\n}\n```',
      "## Result of `read` (failed) · 2026-01-01 00:00:03 UTC\n\n````\n```\n# not a heading\n````",
      "",
    ].join("\n\n"),
  );
  await expect(exported("jsonl", "agent:main:none")).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("the context is reported by part, with the provider's figure where there is one", async () => {
  expect(await fixture.call("sessions.context", { key: "main" })).toEqual({ key: KEY, contextTokens: 0, usedTokens: 0, measured: false, parts: [] });
  await seed([
    line("a", null, said("x".repeat(4000))),
    line("b", "a", said("y".repeat(40))),
    line("c", "b", { type: "compaction", summary: "short", firstKeptEntryId: "b" }),
    line("d", "c", { message: { role: "toolResult", toolCallId: "t", toolName: "read", isError: false, content: [{ type: "text", text: "z".repeat(80) }] } }),
  ]);
  const systemPromptReport = {
    systemPrompt: { chars: 1000, projectContextChars: 400, nonProjectContextChars: 600 },
    injectedWorkspaceFiles: [{ name: "AGENTS.md", path: "/w/AGENTS.md", missing: false, rawChars: 900, injectedChars: 300, truncated: true }],
    skills: { promptChars: 100, entries: [] },
    tools: { listChars: 50, schemaChars: 2000, entries: [] },
  };
  await fixture.store.write("sessions.patch", { key: KEY, patch: { systemPromptReport, contextTokens: 1234, modelProvider: "p", model: "m" } });
  const estimated = await fixture.call("sessions.context", { key: "main" });
  expect(estimated).toMatchObject({ key: KEY, model: "p/m", contextTokens: 1234, measured: false });
  expect(estimated.parts.map(({ kind, label, chars, truncated }) => [kind, label, chars, truncated])).toEqual([
    ["system", "System prompt", 550, undefined],
    ["workspace", "AGENTS.md", 300, true],
    ["skills", "Skills", 100, undefined],
    ["tools", "Tool list", 50, undefined],
    ["tools", "Tool schemas", 2000, undefined],
    ["summary", "Summary of earlier messages", expect.any(Number), undefined],
    ["messages", "Your messages", 40, undefined],
    ["messages", "Tool results", 80, undefined],
  ]);
  expect(estimated.usedTokens).toBe(estimated.parts.reduce((sum, { tokens }) => sum + tokens, 0));
  await fixture.store.write("sessions.patch", { key: KEY, patch: { totalTokens: 777, totalTokensFresh: true } });
  expect(await fixture.call("sessions.context", { key: "main" })).toMatchObject({ usedTokens: 777, measured: true });
});

test("HTML is one page without a script, in which nothing that was said is markup", async () => {
  const evil = `<script>alert(1)</script><img src=x onerror=alert(2)> & "quoted"`;
  await seed([
    line("a", null, said(evil), 1000),
    line("b", "a", { message: { role: "toolResult", toolName: "<b>read</b>", isError: true, content: [{ type: "text", text: evil }] } }, 2000),
    ...Array.from({ length: 3000 }, (_, n) => line(`c${n}`, n === 0 ? "b" : `c${n - 1}`, said(`${n} ${"x".repeat(600)}`), 3000 + n)),
  ]);
  const { text, parts, name } = await exported("html");
  expect(parts).toBeGreaterThan(1);
  expect(name).toMatch(/\.html$/);
  expect(text.startsWith("<!doctype html>")).toBe(true);
  expect(text.trimEnd().endsWith("</html>")).toBe(true);
  expect(text.match(/<\/?html>/g)).toHaveLength(2);
  expect(text).not.toMatch(/<script|<img|<b>/);
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(text).toContain("Result of &lt;b&gt;read&lt;/b&gt; (failed)");
  expect(text.match(/<article/g)).toHaveLength(3002);
});
