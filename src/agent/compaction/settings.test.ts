import { describe, expect, test } from "vitest";
import type { SessionEntry } from "../../protocol/index.ts";
import {
  compactionDue,
  compactionSettings,
  compactionSizes,
  memoryFlushDue,
  memoryFlushed,
  memoryFlushPrompts,
  windowCheck,
  type FlushInput,
} from "./index.ts";

const settings = compactionSettings();

describe("when a compaction is due", () => {
  test.each([
    [48_000, {}, 28_000],
    [200_000, {}, 180_000],
    [200_000, { reserveTokensFloor: 50_000 }, 150_000],
    [200_000, { reserveTokensFloor: 0 }, 183_616],
    [16_000, {}, 8_000],
  ])("window %d with %j: above %d tokens", (window, configured, limit) => {
    const own = compactionSettings(configured);
    expect(compactionDue({ size: limit, window, settings: own })).toBe(false);
    expect(compactionDue({ size: { tokens: limit + 1 }, window, settings: own })).toBe(true);
  });

  test("what stays and the summary leave space for new messages, whatever the window", () => {
    for (const window of [1_000, 16_000, 32_000, 48_000, 128_000, 1_000_000]) {
      const { keep, summary, limit } = compactionSizes(window, settings);
      expect(keep + summary).toBeLessThan(limit * 0.9);
    }
    expect(compactionSizes(200_000, settings)).toEqual({ reserve: 20_000, limit: 180_000, keep: 20_000, summary: 16_000 });
    expect(compactionSizes(100_000, compactionSettings({ maxHistoryShare: 0.1 })).keep).toBe(10_000);
  });

  test("a window that is too small is refused, a small one is warned about", () => {
    expect([windowCheck(15_999)?.level, windowCheck(16_000)?.level, windowCheck(32_000)]).toEqual(["refuse", "warn", undefined]);
  });
});

describe("the turn that writes notes before a compaction", () => {
  const entry = (over: object = {}): SessionEntry => ({ sessionId: "s", updatedAt: 1, totalTokens: 24_000, totalTokensFresh: true, ...over });
  const due = (over: Partial<FlushInput> = {}): boolean => memoryFlushDue({ entry: entry(), window: 48_000, settings, workspaceWritable: true, ...over });

  test.each<readonly [string, boolean, Partial<FlushInput>]>([
    ["at the soft threshold", true, {}],
    ["not below it", false, { entry: entry({ totalTokens: 23_999 }) }],
    ["not when the size is not known", false, { entry: entry({ totalTokensFresh: false }) }],
    ["not in a new session", false, { entry: undefined }],
    ["not when it is off", false, { settings: compactionSettings({ memoryFlush: { enabled: false } }) }],
    [
      "earlier with a larger soft threshold",
      true,
      { entry: entry({ totalTokens: 20_000 }), settings: compactionSettings({ memoryFlush: { softThresholdTokens: 8_000 } }) },
    ],
    ["not for a heartbeat", false, { heartbeat: true }],
    ["not for a program with its own loop", false, { cliBackend: true }],
    ["not where the workspace cannot be written", false, { workspaceWritable: false }],
    ["not twice before the first compaction", false, { entry: entry({ memoryFlushCompactionCount: 0 }) }],
    ["not twice between two compactions", false, { entry: entry({ compactionCount: 2, memoryFlushCompactionCount: 2 }) }],
    ["again after a compaction", true, { entry: entry({ compactionCount: 3, memoryFlushCompactionCount: 2 }) }],
  ])("%s: %s", (_, expected, over) => {
    expect(due(over)).toBe(expected);
  });

  test("once taken it is not due again until the next compaction", () => {
    const after = { ...entry({ compactionCount: 4 }), ...memoryFlushed(entry({ compactionCount: 4 }), 99) } as SessionEntry;
    expect(after).toMatchObject({ memoryFlushAt: 99, memoryFlushCompactionCount: 4 });
    expect(due({ entry: after })).toBe(false);
  });

  test("the prompts name the day in the user's zone and how to stay silent", () => {
    const now = Date.UTC(2026, 1, 19, 23, 30);
    const { prompt, systemPrompt } = memoryFlushPrompts({ settings, now, timeZone: "Europe/Berlin" });
    expect(prompt).toContain("memory/2026-02-20.md");
    expect(prompt).toMatch(/\nCurrent time: .*20 February 2026.*00:30 \(Europe\/Berlin\)$/);
    for (const text of [prompt, systemPrompt]) expect(text).toContain("NO_REPLY");
  });

  test("configured prompts are used; the hint is added only where it is missing", () => {
    const own = compactionSettings({ memoryFlush: { prompt: "Note it in memory/YYYY-MM-DD.md or say NO_REPLY.", systemPrompt: "Notes now." } });
    const { prompt, systemPrompt } = memoryFlushPrompts({ settings: own, now: 0, timeZone: "UTC" });
    expect(prompt.split("\n")[0]).toBe("Note it in memory/1970-01-01.md or say NO_REPLY.");
    expect(prompt.match(/NO_REPLY/g)).toHaveLength(1);
    expect(systemPrompt).toMatch(/^Notes now\.\n\n.*NO_REPLY/);
  });
});
