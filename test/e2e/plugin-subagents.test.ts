/** `api.runtime.subagent` of a plugin in a real gateway. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

/** Hands every member of `runtime.subagent` to a method of the gateway. */
const CODE = `
export default function register(api) {
  for (const name of ["run", "waitForRun", "getSessionMessages", "deleteSession", "complete"]) {
    api.registerGatewayMethod(api.id + "." + name, async ({ params, respond }) => {
      try {
        respond(true, { result: (await api.runtime.subagent[name](params)) ?? null });
      } catch (error) {
        respond(true, { code: error.code, error: error.message });
      }
    });
  }
}`;

let gateway: LabGateway;

function install(id: string): void {
  const folder = join(gateway.place.stateDir, "extensions", id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: {} }));
  writeFileSync(join(folder, "index.mjs"), CODE);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: id, version: "1.0.0", type: "module", openclaw: { extensions: ["./index.mjs"] } }));
}

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test" });
  await gateway.stop();
  for (const id of ["helper", "chooser"]) install(id);
  const model = { id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8_000, input: ["text"], reasoning: false };
  const { providers } = gateway.sections["models"] as { providers: { acme: object } };
  gateway.configure({
    models: { providers: { acme: { ...providers.acme, models: [model, { ...model, id: "small", name: "Small" }, { ...model, id: "tiny", name: "Tiny" }] } } },
    plugins: { allow: ["helper", "chooser"], entries: { chooser: { subagent: { allowModelOverride: true, allowedModels: ["acme/small"] } } } },
  });
  await gateway.start();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
afterEach(() => {
  gateway.model.holds(undefined);
  gateway.model.answers(undefined);
});

interface Answer {
  readonly result?: Readonly<Record<string, unknown>> | null;
  readonly code?: string;
  readonly error?: string;
}
async function ask(method: string, params: object): Promise<Answer> {
  const { ok, payload, error } = await gateway.operator.request(method, params);
  expect({ ok, error }).toMatchObject({ ok: true });
  return payload as Answer;
}
const keys = async (): Promise<readonly string[]> => {
  const { payload } = await gateway.operator.request("sessions.list", { limit: 200 });
  return (payload as { sessions: readonly { key: string }[] }).sessions.map(({ key }) => key);
};
const asked = (word: string): readonly ModelRequest[] => gateway.model.requests.filter(({ user }) => user.includes(word));
const KEY = "agent:main:subagent:search-helper";

test("a plugin starts a run, waits for it, reads its session and deletes it", async () => {
  const { result } = await ask("helper.run", { sessionKey: KEY, message: "find w-apples", extraSystemPrompt: "Be short.", deliver: false });
  expect(result).toEqual({ runId: expect.any(String), sessionKey: KEY });
  expect((await ask("helper.waitForRun", { runId: result!["runId"], timeoutMs: 20_000 })).result).toMatchObject({ status: "ok" });
  const read = await ask("helper.getSessionMessages", { sessionKey: KEY, limit: 10 });
  expect(JSON.stringify(read.result)).toMatch(/find w-apples[^]*Heard w-apples\./);
  expect(asked("w-apples")[0]!.body).toContain("Be short.");
  // Another plugin's, and a person's, are not its own.
  expect(await ask("chooser.deleteSession", { sessionKey: KEY })).toMatchObject({ code: "PERMISSION_DENIED", error: expect.stringContaining(KEY) });
  await gateway.aside();
  const others = (await keys()).find((key) => key !== KEY)!;
  expect(await ask("helper.deleteSession", { sessionKey: others })).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await ask("helper.deleteSession", { sessionKey: KEY })).toEqual({ result: null });
  expect(await keys()).not.toContain(KEY);
  expect(await keys()).toContain(others);
});

test("the same idempotency key is the same run, also after a kill", async () => {
  gateway.model.holds(({ user }) => user.includes("w-once"));
  const params = { sessionKey: "agent:main:subagent:once", message: "find w-once", idempotencyKey: "first" };
  const first = await ask("helper.run", params);
  expect(await ask("helper.run", params)).toEqual(first);
  expect((await ask("helper.waitForRun", { runId: first.result!["runId"], timeoutMs: 10 })).result).toMatchObject({ status: "timeout" });
  await expect.poll(() => asked("w-once").length, PATIENCE).toBe(1);
  await gateway.kill();
  gateway.model.holds(undefined);
  await gateway.start();
  expect(await ask("helper.run", params)).toEqual(first);
  expect((await ask("helper.waitForRun", { runId: first.result!["runId"], timeoutMs: 20_000 })).result).toMatchObject({ status: "ok" });
  const read = await ask("helper.getSessionMessages", { sessionKey: params.sessionKey });
  expect(read.result!["messages"]).toHaveLength(2);
});

test("a plugin chooses a model only where the operator allows it", async () => {
  const params = { sessionKey: "agent:main:subagent:model", message: "use w-model" };
  expect(await ask("helper.run", { ...params, provider: "acme", model: "small" })).toMatchObject({
    code: "PERMISSION_DENIED",
    error: expect.stringContaining("plugins.entries.helper.subagent.allowModelOverride"),
  });
  expect(await ask("chooser.run", { ...params, provider: "acme", model: "tiny" })).toMatchObject({
    code: "PERMISSION_DENIED",
    error: expect.stringContaining("acme/tiny"),
  });
  expect(asked("w-model")).toEqual([]);
  const { result } = await ask("chooser.run", { ...params, provider: "acme", model: "small" });
  expect((await ask("chooser.waitForRun", { runId: result!["runId"] })).result).toMatchObject({ status: "ok" });
  expect((JSON.parse(asked("w-model")[0]!.body) as { model: string }).model).toBe("small");
});

test("a completion has no tools and leaves no session", async () => {
  const before = await keys();
  const { result } = await ask("helper.complete", { agentId: "main", message: "sum up w-notes", extraSystemPrompt: "One line." });
  expect(result).toEqual({ text: "Heard w-notes." });
  const [request] = asked("w-notes");
  expect(request!.body).not.toContain('"tools"');
  expect(request!.body).toContain("One line.");
  expect(await keys()).toEqual(before);
});

test("a completion that takes too long ends with an error, and what ran for it is stopped", async () => {
  gateway.model.holds(({ user }) => user.includes("w-slow"));
  const before = await keys();
  expect(await ask("helper.complete", { agentId: "main", message: "w-slow", timeoutMs: 300 })).toMatchObject({
    code: "UNAVAILABLE",
    error: expect.stringContaining("took too long"),
  });
  await expect.poll(keys, PATIENCE).toEqual(before);
});

test("what cannot be run is refused with what was expected, and nothing is started", async () => {
  const before = gateway.model.requests.length;
  const good = { sessionKey: "agent:main:subagent:bad", message: "w-bad" };
  const cases: readonly (readonly [string, object, string])[] = [
    ["run", {}, "needs sessionKey"],
    ["run", { ...good, message: "" }, "needs message"],
    ["run", { ...good, message: "x".repeat(300_000) }, "300000 characters"],
    ["run", { ...good, sessionKey: "agent:nobody:subagent:x" }, 'no agent "nobody"'],
    ["run", { ...good, toolsAlsoAllow: ["x"] }, "toolsAlsoAllow is not available"],
    ["run", { ...good, completionDelivery: "current-requester" }, "completionDelivery is not available"],
    ["run", { ...good, provider: "acme" }, "a provider needs a model"],
    ["waitForRun", {}, "needs runId"],
    ["complete", { message: "x" }, "needs agentId"],
    ["complete", { agentId: "nobody", message: "x" }, 'no agent "nobody"'],
  ];
  for (const [member, params, text] of cases) expect((await ask(`helper.${member}`, params)).error).toContain(text);
  expect(await keys()).not.toContain(good.sessionKey);
  expect(gateway.model.requests).toHaveLength(before);
});
