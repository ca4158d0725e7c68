import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import type { ModelEntry } from "../entry.ts";
import { failureOf } from "../failure.ts";
import type { ModelEvent, WireRequest } from "../wire/index.ts";
import { loadLongTail } from "./index.ts";

const model: ModelEntry = {
  provider: "amazon-bedrock",
  id: "m",
  name: "M",
  api: "bedrock-converse-stream",
  baseUrl: "https://bedrock",
  reasoning: true,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 32_000,
  maxTokens: 4096,
  source: "catalogue",
};
const request: WireRequest = { model, messages: [{ role: "user", content: "hi", timestamp: 1 }], systemPrompt: "be kind", thinking: "low", apiKey: "k" };
const MESSAGE = {
  role: "assistant",
  content: [{ type: "text", text: "hello" }],
  api: model.api,
  provider: model.provider,
  model: "m",
  usage: {},
  stopReason: "stop",
  timestamp: 1,
  responseId: "theirs",
};

/** A folder with a package of that name, whose stream is `body`; its messages contain what it was called with. */
function install(body: string, where: "compat" | "main" = "compat"): string {
  const folder = mkdtempSync(join(tmpdir(), "long-tail-"));
  const path = join(folder, "node_modules/@earendil-works/pi-ai");
  mkdirSync(join(path, "dist"), { recursive: true });
  const exports = { ".": { import: "./dist/index.js" }, ...(where === "compat" ? { "./compat": { import: "./dist/compat.js" } } : {}) };
  writeFileSync(join(path, "package.json"), JSON.stringify({ name: "@earendil-works/pi-ai", version: "1.0.0", type: "module", exports }));
  const code = `const MESSAGE = ${JSON.stringify(MESSAGE)}; export async function* streamSimple(model, context, options) { ${body} }`;
  writeFileSync(join(path, "dist/index.js"), where === "main" ? code : "export const other = 1;");
  writeFileSync(join(path, "dist/compat.js"), code);
  return folder;
}

async function stream(
  folder: string,
  over: { readonly signal?: AbortSignal; readonly clock?: ReturnType<typeof manualClock>; readonly request?: Partial<WireRequest> } = {},
): Promise<ModelEvent[]> {
  const driver = await loadLongTail(model.api, { from: ["/nowhere", folder], version: "9.9.9" });
  const options = { clock: over.clock ?? manualClock(), headersMs: 1000, progressMs: 1000, signal: over.signal };
  return Array.fromAsync(driver.stream({ ...request, ...over.request }, options));
}
const failed = async (promise: Promise<unknown>) =>
  failureOf(
    await promise.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );

test("without the package the error says which to install", async () => {
  const folder = mkdtempSync(join(tmpdir(), "long-tail-none-"));
  await expect(loadLongTail("google-vertex", { from: [folder], version: "1" })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("npm install @earendil-works/pi-ai"),
    details: { package: "@earendil-works/pi-ai" },
  });
});

test("for an unknown format the error suggests a plugin", async () => {
  await expect(loadLongTail("google-gemini-cli", { from: [], version: "1" })).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("a plugin must provide it"),
  });
});

test.each(["compat", "main"] as const)("the package's events become ours, wherever it keeps its functions (%s)", async (where) => {
  const folder = install(
    `yield { type: "start" };
     yield { type: "thinking_delta", contentIndex: 0, delta: "hm" };
     yield { type: "text_delta", contentIndex: 1, delta: "hel" };
     yield { type: "toolcall_start", contentIndex: 2, partial: { content: [0, 0, { id: "c1", name: "look" }] } };
     yield { type: "toolcall_delta", contentIndex: 2, delta: "{}" };
     yield { type: "done", message: MESSAGE };`,
    where,
  );
  const { responseId: _theirs, ...message } = MESSAGE;
  expect(await stream(folder)).toEqual([
    { type: "thinking", index: 0, delta: "hm" },
    { type: "text", index: 1, delta: "hel" },
    { type: "toolCall", index: 2, id: "c1", name: "look" },
    { type: "toolCallArguments", index: 2, delta: "{}" },
    { type: "end", message },
  ]);
});

test("it gets our user agent, and does not retry by itself", async () => {
  const folder = install(`yield { type: "text_delta", delta: JSON.stringify({ model, context, options }) }; yield { type: "done", message: MESSAGE };`);
  const [first] = await stream(folder, { request: { model: { ...model, api: "openai-codex-responses" } } });
  const received = JSON.parse((first as { delta: string }).delta) as { model: unknown; context: unknown; options: unknown };
  expect(received.options).toMatchObject({
    apiKey: "k",
    reasoning: "low",
    maxRetries: 0,
    headers: { "User-Agent": "openclaw/9.9.9", originator: "openclaw" },
    identity: { userAgent: { custom: "openclaw/9.9.9" } },
  });
  expect(received.context).toEqual({ messages: request.messages, systemPrompt: "be kind" });
});

test("a version that sends another product's name is refused for that provider", async () => {
  const load = (folder: string) => loadLongTail("openai-codex-responses", { from: [folder], version: "1" });
  await expect(load(install(""))).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("another client name") });
  expect(await load(install("} export function formatUserAgent() {"))).toMatchObject({ api: "openai-codex-responses" });
});

test("its errors become failures of calls, with the status their text begins with", async () => {
  const folder = install(`yield { type: "text_delta", delta: "a" }; yield { type: "error", error: { errorMessage: "429 Too many requests" } };`);
  expect(await failed(stream(folder))).toMatchObject({ status: 429, text: "429 Too many requests", afterContent: true });
  expect(await failed(stream(install(`throw new Error("no credentials");`)))).toMatchObject({ phase: "connect", text: "no credentials" });
  expect(await failed(stream(install(`yield { type: "start" };`)))).toMatchObject({ malformed: true });
});

test("a stream without progress counts as hung and is aborted", async () => {
  const clock = manualClock();
  const folder = install(
    `globalThis.longTailWaits?.(); await new Promise((resolve) => options.signal.addEventListener("abort", resolve)); throw new Error("stopped");`,
  );
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  Object.assign(globalThis, { longTailWaits: resolve });
  const result = failed(stream(folder, { clock }));
  await waits;
  clock.advance(1000);
  expect(await result).toMatchObject({ hung: true, text: "no progress for 1 s" });
});

test("aborting ends the call", async () => {
  const controller = new AbortController();
  controller.abort();
  expect(await failed(stream(install(`if (options.signal.aborted) throw new Error("aborted");`), { signal: controller.signal }))).toMatchObject({
    aborted: true,
  });
});
