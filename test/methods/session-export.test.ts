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

async function exported(format: "jsonl" | "markdown", sessionKey = "main"): Promise<{ readonly text: string; readonly parts: number; readonly name: string }> {
  const parts: string[] = [];
  for (let after: number | undefined; ;) {
    const got = await fixture.call("sessions.export", { key: sessionKey, format, ...(after === undefined ? {} : { after }) });
    expect(Buffer.byteLength(got.text)).toBeLessThanOrEqual(1024 * 1024);
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
    ["tools", "List of tools", 50, undefined],
    ["tools", "Schemas of tools", 2000, undefined],
    ["summary", "Summary of what came before", expect.any(Number), undefined],
    ["messages", "Your messages", 40, undefined],
    ["messages", "Results of tools", 80, undefined],
  ]);
  expect(estimated.usedTokens).toBe(estimated.parts.reduce((sum, { tokens }) => sum + tokens, 0));
  await fixture.store.write("sessions.patch", { key: KEY, patch: { totalTokens: 777, totalTokensFresh: true } });
  expect(await fixture.call("sessions.context", { key: "main" })).toMatchObject({ usedTokens: 777, measured: true });
});
