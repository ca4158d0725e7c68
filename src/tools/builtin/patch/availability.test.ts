import { expect, test } from "vitest";
import { applyPatchAvailable, applyPatchWorkspaceOnly } from "./availability.ts";

test.each<[string, Record<string, unknown>, string | undefined, string | undefined, boolean]>([
  ["off by default", {}, "openai", "gpt-5", false],
  ["on for the models that know it", { enabled: true }, "OpenAI", "gpt-5", true],
  ["on for Codex", { enabled: true }, "openai-codex", undefined, true],
  ["not for others", { enabled: true }, "anthropic", "claude", false],
  ["for models by name", { enabled: true, allowModels: ["GPT-5 "] }, "openai", "gpt-5", true],
  ["for models by full name", { enabled: true, allowModels: ["openai/gpt-5"] }, "openai", "gpt-5", true],
  ["not for models that are not named", { enabled: true, allowModels: ["gpt-5"] }, "openai", "gpt-4", false],
  ["not for an unknown model when some are named", { enabled: true, allowModels: ["gpt-5"] }, "openai", undefined, false],
])("the tool is %s", (_, applyPatch, provider, model, expected) => {
  expect(applyPatchAvailable({ tools: { exec: { applyPatch } } }, provider, model)).toBe(expected);
});

test("an agent's settings stand for everybody's, and patches stay in the workspace unless they say otherwise", () => {
  const config = {
    tools: { exec: { applyPatch: { enabled: true, workspaceOnly: false } } },
    agents: { list: [{ id: "Kid", tools: { exec: { applyPatch: { enabled: false } } } }] },
  };
  expect([applyPatchAvailable(config, "openai", "m", "main"), applyPatchAvailable(config, "openai", "m", "kid")]).toEqual([true, false]);
  expect([applyPatchWorkspaceOnly(config, "main"), applyPatchWorkspaceOnly(config, "kid"), applyPatchWorkspaceOnly({}, "main")]).toEqual([false, true, true]);
});
