import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { openStore } from "../../index.ts";

test("calls are counted by what caused them: the input that the turn is named after, others that it took, or nothing that is stored", async () => {
  const folder = mkdtempSync(join(tmpdir(), "usage-"));
  const store = await openStore({ stateDir: folder, clock: manualClock() });
  try {
    const row = { account: "a", conversation: "c", text: "t", sessionKey: "agent:main:main", agentId: "main" };
    const accept = async (channel: string, messageId: string, kind: string, turnId: string): Promise<void> => {
      const { id } = await store.write("inbox.accept", { ...row, channel, messageId, kind });
      await store.commit([
        ["turns.start", { id: turnId, sessionKey: row.sessionKey, agentId: "main" }],
        ["inbox.claim", { ids: [id], turnId }],
      ]);
    };
    await accept("gateway", "run-1", "heartbeat", "run-1");
    await accept("telegram", "77", "message", "run-2");
    const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0, durationMs: 1, provider: "p", model: "m", agentId: "main" };
    await accept("gateway", "run-3", "exec", "run-3");
    await accept("gateway", "run-4", "regenerate", "run-4");
    for (const turnId of ["run-1", "run-2", "run-3", "run-4", "gone"]) await store.write("usage.add", { ...tokens, sessionKey: row.sessionKey, turnId });
    await store.write("usage.add", { ...tokens, sessionKey: "agent:main:cron:job", turnId: "gone" });
    const works = await store.read("usage.totals", { by: ["work"] });
    expect(works.map(({ work, calls }) => [work, calls])).toEqual([
      ["cron", 1],
      ["heartbeat", 1],
      ["message", 3],
      ["other", 1],
    ]);
  } finally {
    await store[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
});
