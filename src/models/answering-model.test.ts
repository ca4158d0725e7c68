import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { silentLogger } from "../base/log/logger.ts";
import { systemRandom } from "../base/random.ts";
import { createRedactor } from "../base/redaction.ts";
import type { OpenClawConfig } from "../config/index.ts";
import { createModels, type Models } from "./create-models.ts";
import { answeringModel, type AnsweringModel } from "./answering-model.ts";

const SECRET = "sk-ant-0123456789abcdef";

async function asked(config: OpenClawConfig, env: Record<string, string> = {}, profiles?: object): Promise<AnsweringModel> {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-answering-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  if (profiles) {
    mkdirSync(join(folder, "agent"));
    writeFileSync(join(folder, "agent", "auth-profiles.json"), JSON.stringify({ version: 1, profiles }));
  }
  const models = createModels({
    config: () => config,
    env: () => ({ HOME: join(folder, "home"), ...env }),
    agentDir: () => join(folder, "agent"),
    mainAgentDir: join(folder, "agent"),
    clock: manualClock(),
    ids: createIds(systemRandom),
    random: systemRandom,
    log: silentLogger,
    redactor: createRedactor(),
    version: "1.2.3",
  });
  const found = await answeringModel(async () => models, "main");
  expect(JSON.stringify(found)).not.toContain(SECRET);
  return found;
}

const chosen = (primary: string): OpenClawConfig => ({ agents: { defaults: { model: { primary } } } });

test("a key in the environment is named by its variable", async () => {
  const found = await asked({}, { ANTHROPIC_API_KEY: SECRET });
  expect(found).toEqual({
    model: expect.stringMatching(/^anthropic\//),
    offline: false,
    why: expect.stringContaining("the key is in the variable ANTHROPIC_API_KEY"),
    reason: { code: "standard", key: "env", keyName: "ANTHROPIC_API_KEY" },
  });
});

test("a key in a profile is named by its profile", async () => {
  const found = await asked(chosen("anthropic/claude-opus-4-6"), {}, { "anthropic:work": { type: "api_key", provider: "anthropic", key: SECRET } });
  expect(found).toMatchObject({
    model: "anthropic/claude-opus-4-6",
    why: "it is set in agents.defaults.model; the key is in the profile anthropic:work",
    reason: { code: "defaults", key: "profile", keyName: "anthropic:work" },
  });
});

test("a chosen model without a key is reported with what to do", async () => {
  const { model, offline, why } = await asked(chosen("anthropic/claude-opus-4-6"));
  expect([model, offline]).toEqual(["anthropic/claude-opus-4-6", false]);
  expect(why).toContain("there is no key for anthropic: add one with openclaw models auth add --provider anthropic");
});

test("the built-in model is offline", async () => {
  expect(await asked(chosen("builtin/offline"))).toEqual({
    model: "builtin/offline",
    offline: true,
    why: "it is set in agents.defaults.model",
    reason: { code: "defaults" },
  });
});

test("a model that nobody knows is none, and the reason says so", async () => {
  expect(await asked(chosen("anthropic/no-such-model"))).toEqual({ model: null, offline: false, why: expect.stringContaining("no-such-model") });
});

test("a model on this machine needs no key", async () => {
  const local = {
    select: async () => ({ ref: { provider: "ollama", id: "small" }, entry: { source: "discovery" }, reason: { source: "local", text: "ollama runs at x" } }),
  } as unknown as Models;
  expect(await answeringModel(async () => local, "main")).toEqual({
    model: "ollama/small",
    offline: false,
    why: "ollama runs at x",
    reason: { code: "local" },
  });
});

test("models that cannot be loaded are reported, not thrown", async () => {
  expect(await answeringModel(() => Promise.reject(new Error("broken")), "main")).toEqual({ model: null, offline: false, why: "broken" });
});
