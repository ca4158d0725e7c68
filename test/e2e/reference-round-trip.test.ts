/** The reference system is started again on the state folder, and then this gateway: both know what the other did. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { referenceSystem } from "../../src/store/session-index/reference.fixture.ts";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";

const PATIENCE = { timeout: 20_000, interval: 50 };

let gateway: LabGateway;
let reference: ReturnType<typeof referenceSystem>;
let asked = 0;

beforeAll(async () => {
  gateway = await startLabGateway();
  reference = referenceSystem(join(gateway.place.stateDir, "agents/main/sessions"));
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

async function say(sessionKey: string, message: string): Promise<void> {
  const idempotencyKey = `said-${(asked += 1)}`;
  expect(await gateway.operator.request("chat.send", { sessionKey, message, idempotencyKey })).toMatchObject({ ok: true });
  expect((await gateway.operator.request("agent.wait", { runId: idempotencyKey, timeoutMs: 20_000 })).payload).toMatchObject({ status: "ok" });
}

async function listed(): Promise<readonly string[]> {
  const { payload } = await gateway.operator.request("sessions.list", {});
  return (payload!["sessions"] as readonly { readonly key: string }[]).map(({ key }) => key).sort();
}

test("conversations go there and back", async () => {
  await say("agent:main:main", "my name is Ada");
  await say("agent:main:trip", "we go to Oslo");
  await say("agent:main:done", "over");
  await gateway.stop();

  const index = reference.load();
  expect(Object.keys(index)).toEqual(["agent:main:main", "agent:main:trip", "agent:main:done"]);
  expect(reference.texts(index["agent:main:main"]!).join()).toContain("my name is Ada");
  const now = index["agent:main:trip"]!.updatedAt;
  reference.append(reference.change("agent:main:trip", { updatedAt: now + 1000, thinkingLevel: "high" }), "and then to Bergen");
  reference.append(reference.change("agent:main:telegram:direct:4711", { sessionId: "4711-there", updatedAt: now + 2000 }), "hello from there");
  reference.remove("agent:main:done");

  await gateway.start();
  expect(await listed()).toEqual(["agent:main:main", "agent:main:telegram:direct:4711", "agent:main:trip"]);
  const from = gateway.model.requests.length;
  await say("agent:main:trip", "where do we go?");
  expect(JSON.stringify(gateway.model.requests.slice(from))).toMatch(/we go to Oslo.*and then to Bergen.*where do we go/s);
  await say("agent:main:telegram:direct:4711", "go on");
  expect(JSON.stringify(gateway.model.requests.at(-1))).toContain("hello from there");
  expect((await gateway.operator.request("sessions.patch", { key: "agent:main:trip" })).payload).toMatchObject({ entry: { thinkingLevel: "high" } });

  // The file follows while the gateway runs, and a restart finds nothing new in it.
  const taken = (): number => gateway.output().split("has been imported").length;
  await say("agent:main:late", "written while it runs");
  await expect.poll(() => Object.keys(reference.load()), PATIENCE).toContain("agent:main:late");
  const [before, times] = [await listed(), taken()];
  expect(times).toBeGreaterThan(1);
  await gateway.stop();
  await gateway.start();
  expect([await listed(), taken()]).toEqual([before, times]);

  // A session that is deleted in the file while the gateway runs goes before the next write, and others go on.
  reference.remove("agent:main:late");
  await say("agent:main:trip", "still there?");
  await expect.poll(listed, PATIENCE).not.toContain("agent:main:late");
  const later = gateway.model.requests.length;
  await say("agent:main:trip", "and now?");
  expect(JSON.stringify(gateway.model.requests.slice(later))).toMatch(/we go to Oslo.*still there\?.*and now\?/s);
  await expect.poll(() => Object.keys(reference.load()), PATIENCE).toEqual(["agent:main:main", "agent:main:trip", "agent:main:telegram:direct:4711"]);
});
