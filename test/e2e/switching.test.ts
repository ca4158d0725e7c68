/** A gateway on the state folder of a newer version of the reference system, with the commands of `docs/switching.md`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agentPath, identityIn, MAIN, sharedPath, writeAgentDatabase, writeSharedDatabase } from "../../src/store/import/newer-state.fixture.ts";
import { startLabModel, type LabModel } from "../conformance/channels/lab-model.ts";
import { makePlace, ROOT, type GatewayProcess, type Place } from "../harness/gateway-process.ts";
import { until } from "../harness/until.ts";

let place: Place;
let model: LabModel;
let gateway: GatewayProcess;
const commands = [...readFileSync(join(ROOT, "docs/switching.md"), "utf8").matchAll(/^ *bin\/openclaw (.+)$/gm)].map(([, line]) => line!.split(" "));

beforeAll(async () => {
  place = makePlace();
  model = await startLabModel();
  writeAgentDatabase(place.stateDir);
  writeSharedDatabase(place.stateDir);
  const models = [{ id: "large", name: "Large", contextWindow: 200_000, maxTokens: 8000, input: ["text"], reasoning: false }];
  place.configure(
    JSON.stringify({
      meta: { lastTouchedVersion: "2026.9.6", migrations: { done: true } },
      // The conversation is as old as the fixture.
      session: { reset: { mode: "idle", idleMinutes: 50_000_000 } },
      gateway: { mode: "local", auth: { mode: "token", token: "token-of-this-test-0123456789" } },
      agents: { defaults: { model: { primary: "acme/large" }, workspace: join(place.home, "workspace"), skipBootstrap: true } },
      models: { providers: { acme: { baseUrl: model.url, apiKey: "sk-lab-0123456789abcdef", api: "openai-completions", models } } },
    }),
  );
  gateway = await place.gateway({ strict: true });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

test("the commands of the page work and show what was there", async () => {
  expect(commands.length).toBeGreaterThan(4);
  const outputs: string[] = [];
  for (const line of commands.filter((words) => words[0] !== "logs")) {
    const { code, stdout, stderr } = await place.start(...line);
    expect([line, code, stderr]).toEqual([line, 0, ""]);
    outputs.push(stdout);
  }
  const all = outputs.join("\n");
  for (const text of ["agent:main:main", "Stand-up", "anthropic:work"]) expect(all).toContain(text);
  expect(all).not.toContain("sk-ant-of-the-test");
  // The commands were let in as the machine that the other system knew.
  expect(JSON.parse(readFileSync(join(place.stateDir, "identity/device.json"), "utf8"))).toEqual(identityIn(place.stateDir));
});

test("an imported conversation goes on: the model is sent what was said before, and the other system's databases stay as they are", async () => {
  const before = [agentPath, sharedPath].map((path) => readFileSync(path(place.stateDir)));
  const { code, stderr } = await place.start("agent", "--agent", "main", "--message", "and apples w-apple?");
  expect([code, stderr]).toEqual([0, ""]);
  expect(model.requests.at(-1)!.body.includes("buy pears")).toBe(true);
  const file = join(place.stateDir, `agents/main/sessions/${MAIN}.jsonl`);
  await until(
    () => readFileSync(file, "utf8").includes("w-apple"),
    () => readFileSync(file, "utf8"),
  );
  expect([agentPath, sharedPath].map((path) => readFileSync(path(place.stateDir)))).toEqual(before);
});
