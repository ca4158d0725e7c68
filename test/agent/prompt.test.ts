import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openAgentFixture } from "../harness/agent-fixture.ts";

test("the prompt names the repository that is configured, and how the time of day is written", async () => {
  const folder = mkdtempSync(join(tmpdir(), "turn-repo-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = await openAgentFixture({ says: ["hi"], config: { agents: { defaults: { repoRoot: folder, timeFormat: "12" } } } });
  onTestFinished(() => at[Symbol.asyncDispose]());
  await at.turn("hello");
  expect(at.requests[0]!.systemPrompt).toContain(`| repo=${folder} |`);
  expect(at.requests[0]!.systemPrompt).toContain("Time format: 12-hour");
});
