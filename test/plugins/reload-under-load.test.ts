import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTools } from "../../src/plugins/index.ts";
import type { DeviceClient } from "../harness/device-client.ts";
import { makeGuardedPlace, type GuardedPlace } from "../harness/guarded-gateway.ts";
import { openHost, seen } from "../harness/plugin-host.ts";

/** Its tool waits for a file between two short timers, and names the version of the code that runs. */
const worker = (version: number): string => `
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  api.registerTool({
    name: "work", description: "d", parameters: { type: "object", properties: { job: { type: "string" } } },
    async execute(_id, { job }) {
      appendFileSync(home + "/began", job + "\\n");
      await pause(5);
      while (job.startsWith("long") && !existsSync(home + "/" + job)) await pause(5);
      await pause(5);
      return { content: [{ type: "text", text: job + " done by version ${version}" }] };
    },
  });
  api.on("before_tool_call", async () => { await pause(1); });
`;

let there: GuardedPlace;
let client: DeviceClient;
beforeAll(async () => {
  there = await makeGuardedPlace();
  there.plant({ id: "worker", code: worker(1) });
  there.configure();
  writeFileSync(join(there.place.home, "began"), "");
  const gateway = await there.start();
  if (gateway.url === undefined) throw new Error(gateway.output());
  client = await there.enter();
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await there[Symbol.asyncDispose]();
});

const work = (...jobs: readonly string[]): string => there.orders(jobs.map((job) => ({ name: "work", args: { job } })));
const answers = (): string => JSON.stringify(there.model.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool")));

test("turns whose tools run or are yet to run when their plugin is reloaded come to their end, and hold up no other session", async () => {
  const began = (): readonly string[] => readFileSync(join(there.place.home, "began"), "utf8").trim().split("\n").sort();
  const sessions = ["a", "b", "c", "d"];
  for (const name of sessions) {
    // The second call comes after the reload: from a turn that chose its tools before it.
    await client.request("chat.send", { sessionKey: `agent:main:${name}`, message: work(`long-${name}`, `next-${name}`), idempotencyKey: `run-${name}` });
  }
  await expect.poll(began).toEqual(sessions.map((name) => `long-${name}`));
  for (const version of [2, 3]) {
    there.plant({ id: "worker", code: worker(version) });
    expect(await client.request("plugins.reload", { id: "worker" })).toMatchObject({ ok: true });
  }
  for (const name of sessions) writeFileSync(join(there.place.home, `long-${name}`), "");
  const ends = await Promise.all(sessions.map((name) => client.request("agent.wait", { runId: `run-${name}`, timeoutMs: 15_000 })));
  for (const end of ends) expect(end).toMatchObject({ ok: true, payload: { status: "ok" } });
  for (const name of sessions) {
    expect(answers()).toContain(`long-${name} done by version 1`);
    expect(answers(), "the next call goes to the newest code").toContain(`next-${name} done by version 3`);
  }
});

const toolOf = ({ host }: Awaited<ReturnType<typeof openHost>>) => createTools(host.registries.tools, {}, () => {})[0]!;
const TOOL = (body: string): string => `api.registerTool({ name: "work", execute: async () => { ${body} } })`;

test("code that was replaced still runs to its end when it is called late, timers included", async () => {
  await using place = await openHost([{ id: "one", code: TOOL(`await new Promise((resolve) => setTimeout(resolve, 1)); return "late"`) }]);
  const old = toolOf(place);
  await place.host.reload("one");
  expect([old.isLive(), toolOf(place).isLive()]).toEqual([false, true]);
  expect(await old.execute("id", {})).toBe("late");
});

test("a tool call that never ends is aborted ten minutes after its plugin was replaced, and the old code ends", async () => {
  await using place = await openHost([{ id: "one", code: `${TOOL("await new Promise(() => {})")}; api.lifecycle.onDispose(() => seen.push("ended"))` }]);
  const call = Promise.resolve(toolOf(place).execute("id", {}));
  call.catch(() => {});
  await place.host.reload("one");
  place.clock.advance(60_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.seen).toEqual([]);
  place.clock.advance(600_000);
  await expect(call).rejects.toThrow("the plugin one was reloaded or stopped, and tool work did not finish in time");
  expect(seen.seen).toEqual(["ended"]);
});
