import { describe, expect, test } from "vitest";
import type { SystemPromptReport } from "../../../agent/index.ts";
import { COMMANDS } from "../../../channels/index.ts";
import { KEY, setup } from "../commands.fixture.ts";
import type { CommandPorts } from "../ports.ts";
import { HANDLERS } from "./index.ts";

test("every command of the list has a handler", () => {
  const elsewhere = ["new", "reset", "skill"];
  const missing = COMMANDS.filter(({ names: [name], directive }) => !directive && !elsewhere.includes(name) && !Object.hasOwn(HANDLERS, name));
  expect(missing).toEqual([]);
});

describe("/help and /commands", () => {
  test("help is short and names what is switched on", async () => {
    expect(await setup().say("/help")).not.toContain("/config");
    const text = await setup({ config: { commands: { config: true, debug: true } } }).say("/help");
    expect(text).toMatch(/Session: .*\/new[\s\S]*\/config[\s\S]*\/debug[\s\S]*\/commands/);
  });

  test("commands lists everything that works, aliases, plugins and skills, and no docks", async () => {
    const ports: Partial<CommandPorts> = {
      plugins: { match: () => undefined, list: () => [{ name: "pair", description: "Pair a phone", acceptsArgs: false }] },
      skills: { list: () => Promise.resolve([{ name: "Git Hub!", description: "Talk to it" }]) },
    };
    const text = await setup({ ports }).say("/commands");
    expect(text).toContain("/think (/thinking, /t) [text] - Set the thinking level");
    expect(text).toContain("**Plugins**\n/pair - Pair a phone");
    expect(text).toContain("**Skills**\n/git_hub [text] - Talk to it");
    expect(text).not.toMatch(/dock|\/bash|\/config/);
  });
});

describe("/status and /whoami", () => {
  test("the card tells what is known", async () => {
    const { say } = setup({
      entry: {
        inputTokens: 12_345,
        outputTokens: 678,
        totalTokens: 50_000,
        contextTokens: 200_000,
        compactionCount: 2,
        thinkingLevel: "high",
        queueMode: "steer",
        queueCap: 5,
      },
    });
    expect((await say("/status")).split("\n")).toEqual([
      "**OpenClaw 1.2.3** (abc)",
      "Time: 2026-11-15 12:00 UTC",
      "Model: anthropic/claude-opus-4-6 · api-key",
      "Tokens: 12k in / 678 out · Cost: $0.5000",
      "Context: 50k/200k (25%) · Compactions: 2",
      `Session: ${KEY} • active 1m ago`,
      "Runtime: direct · Think: high · verbose: off · Reasoning: off · elevated: on",
      "Queue: steer (depth 3, debounce 1000 ms, cap 5, drop summarize)",
    ]);
    expect(await say("/status", { isGroup: true })).toContain("Activation: mention · Queue");
    const at = (userTimezone: string) => setup({ config: { agents: { defaults: { userTimezone } } } }).say("/status");
    expect(await at("Asia/Tokyo")).toContain("Time: 2026-11-15 21:00 Asia/Tokyo");
    expect(await at("Nowhere/Land")).toContain("Time: 2026-11-15 12:00 UTC");
    const twelve = setup({ config: { agents: { defaults: { userTimezone: "Asia/Tokyo", timeFormat: "12" } } } });
    expect(await twelve.say("/status")).toContain("Time: 2026-11-15 9:00 PM Asia/Tokyo");
  });

  test("the sender's identity, to copy", async () => {
    const text = await setup().say("/id", { isGroup: true }, { SenderUsername: "ann", From: "telegram:group:-1", MessageThreadId: 7 });
    expect(text).toBe("**Identity**\nChannel: telegram\nUser id: 42\nUsername: @ann\nChat: telegram:group:-1\nThread: 7\nAllowFrom: 42");
  });
});

describe("/context", () => {
  const report: SystemPromptReport = {
    source: "run",
    generatedAt: 0,
    sessionId: "s",
    sessionKey: KEY,
    provider: "p",
    model: "m",
    workspaceDir: "/w",
    bootstrapMaxChars: 20_000,
    bootstrapTotalMaxChars: 24_000,
    sandbox: { mode: "off", sandboxed: false },
    systemPrompt: { chars: 4000, projectContextChars: 1000, nonProjectContextChars: 3000 },
    injectedWorkspaceFiles: [
      { name: "AGENTS.md", path: "/w/AGENTS.md", missing: false, rawChars: 30_000, injectedChars: 20_000, truncated: true },
      { name: "SOUL.md", path: "/w/SOUL.md", missing: true, rawChars: 0, injectedChars: 0, truncated: false },
    ],
    skills: { promptChars: 100, entries: [{ name: "git", blockChars: 50 }] },
    tools: { listChars: 10, schemaChars: 300, entries: [{ name: "read", summaryChars: 5, schemaChars: 300, propertiesCount: 2 }] },
  };
  const ports = { context: { report: () => Promise.resolve(report) } };

  test("alone says what it is, and what there is", async () => {
    expect(await setup({ ports }).say("/context")).toContain("/context detail");
    expect(await setup({ ports }).say("/context bogus")).toContain("list, detail or json");
  });

  test("list, detail and json show more and more", async () => {
    const { say } = setup({ ports });
    const list = await say("/context list");
    expect(list).toContain("AGENTS.md: TRUNCATED | raw 30,000 chars (~7,500 tokens) | injected 20,000 chars");
    expect(list).toContain("SOUL.md: MISSING");
    expect(list).not.toContain("2 parameters");
    expect(await say("/context detail")).toContain("- read: schema 300 chars (~75 tokens), summary 5 chars, 2 parameters");
    const json = JSON.parse((await say("/context json")).replaceAll(/```(?:json)?/g, "")) as unknown;
    expect(json).toEqual({ report, session: { totalTokens: null, inputTokens: null, outputTokens: null, contextTokens: null } });
  });

  test("says when nothing is known", async () => {
    expect(await setup({ ports: { context: { report: () => Promise.resolve(undefined) } } }).say("/context list")).toContain("No report yet");
    expect(await setup().say("/context list")).toContain("is not available");
  });
});

describe("/usage", () => {
  test("goes round, or is set by any of its words", async () => {
    const { say, entry } = setup();
    expect([await say("/usage"), await say("/usage"), await say("/usage")]).toEqual([
      "Usage below answers: tokens.",
      "Usage below answers: full.",
      "Usage below answers: off.",
    ]);
    expect(entry()?.["responseUsage"]).toBeUndefined();
    await say("/usage on");
    expect(entry()?.["responseUsage"]).toBe("tokens");
    expect(await say("/usage bogus")).toBe("Usage: /usage off|tokens|full|cost");
  });

  test("cost tells what was spent", async () => {
    const usage = {
      summary: () =>
        Promise.resolve({ session: { tokens: 1200, costUsd: 0.1234 }, today: { tokens: 5000, costUsd: 2, partial: true }, last30Days: { tokens: 9 } }),
    };
    expect(await setup({ ports: { usage } }).say("/usage cost")).toBe(
      "**Usage**\nSession: $0.1234 · 1.2k tokens\nToday: $2.00 (partial) · 5.0k tokens\nLast 30 days: cost unknown · 9 tokens",
    );
    expect(await setup().say("/usage cost")).toContain("is not available");
  });
});

describe("/compact and /trace", () => {
  test("compact passes on what to look at", async () => {
    const { say, log } = setup({ entry: { totalTokens: 1200, contextTokens: 10_000 } });
    expect(await say("/compact: keep names\nand dates")).toBe("Compacted (90k → 1.2k tokens) • Context 1.2k/10k (12%)");
    expect(log).toEqual([`compact ${KEY} keep names\nand dates`, "event Compacted (90k → 1.2k tokens) • Context 1.2k/10k (12%)"]);
  });

  test("trace tells the story without secrets", async () => {
    expect(await setup({ ports: { why: (key, id) => Promise.resolve(`${key} ${id ?? "last"} sk-secret`) } }).say("/trace")).toBe(`${KEY} last ***`);
    expect(await setup().say("/trace")).toContain("is not available");
  });
});
