/** Loads one plugin in the host that is built, and prints what it registered. */
import type { TestHost, TestHostOptions } from "../../src/plugin-testing/index.ts";

const [path = "", id = "", mark = ""] = process.argv.slice(2);
const testing = new URL("../../dist/plugin-sdk/testing.js", import.meta.url).href;
const { createTestHost } = (await import(testing)) as { createTestHost(options: TestHostOptions): Promise<TestHost> };

/** Settings without which a plugin registers only a part. */
const SETTINGS: Readonly<Record<string, object>> = {
  "openclaw-mem0": { apiKey: "m0-none", userId: "nobody", autoCapture: true, autoRecall: true },
  "memory-lancedb": { embedding: { apiKey: "none" } },
  "voice-call": { enabled: true, provider: "mock" },
};

const config = SETTINGS[id];
const entry = { enabled: true, hooks: { allowConversationAccess: true }, ...(config ? { config } : {}) };
const host = await createTestHost({ plugins: [path], config: { plugins: { entries: { [id]: entry } } }, clock: "system" });
const answer = JSON.stringify({ status: host.plugins().find((plugin) => plugin.id === id), diagnostics: host.diagnostics() });
process.stdout.write(`\n${mark}${answer}${mark}\n`, () => process.exit(0));
