import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";
import { startScripted, type Visitor } from "../harness/scripted-gateway.ts";
import { startHost } from "./host-process.ts";

const OPEN = { defaults: { security: "full", ask: "off" } };
const OPEN_CONFIG = '{ tools: { exec: { security: "full", ask: "off" } } }';

let count = 0;
function ask(visitor: Visitor, script: string, id = `invoke-${(count += 1)}`): string {
  const params = { command: ["/bin/sh", "-lc", script] };
  const payload = { id, nodeId: "n", command: "system.run", paramsJSON: JSON.stringify(params), timeoutMs: 30_000, idempotencyKey: id };
  visitor.send({ type: "event", event: "node.invoke.request", payload });
  return id;
}
const resultOf = async (visitor: Visitor): Promise<Readonly<Record<string, unknown>>> => {
  for (;;) {
    const asked = await visitor.take();
    visitor.answer(asked, { ok: true });
    if (asked.method === "node.invoke.result") return asked.params;
  }
};
const lines = (path: string): number => (existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0);

test("a repeated id is answered from memory, and after a kill as unknown: never run twice", async () => {
  await using gateway = await startScripted();
  const place = makePlace();
  place.configure(OPEN_CONFIG);
  const log = join(place.home, "log");
  const host = startHost(gateway.url, { place, rules: OPEN });
  const first = await gateway.visitor();
  const hello = await first.welcome();
  expect(hello.params).toMatchObject({
    role: "node",
    scopes: [],
    caps: expect.arrayContaining(["system"]),
    commands: expect.arrayContaining(["system.run", "system.which"]),
  });
  const id = ask(first, `echo once >> ${log}; echo out`);
  const answer = await resultOf(first);
  expect(answer).toMatchObject({ id, nodeId: "n", ok: true });
  ask(first, `echo once >> ${log}; echo out`, id);
  expect(await resultOf(first)).toEqual(answer);
  expect(lines(log)).toBe(1);

  const cut = ask(first, `echo cut >> ${log}; sleep 30`);
  await expect.poll(() => lines(log)).toBe(2);
  await host.kill();
  await using again = startHost(gateway.url, { place });
  const second = await gateway.visitor();
  await second.welcome();
  for (const repeated of [id, cut]) {
    ask(second, `echo again >> ${log}`, repeated);
    expect(await resultOf(second)).toMatchObject({ id: repeated, ok: false, error: { code: "OUTCOME_UNKNOWN" } });
  }
  expect(lines(log)).toBe(2);
  expect(again.child.exitCode).toBeNull();
});

test("a host comes back by itself when the gateway was away, and reports what nobody waited for", async () => {
  await using gateway = await startScripted();
  const place = makePlace();
  place.configure(OPEN_CONFIG);
  await using host = startHost(gateway.url, { place, rules: OPEN });
  const first = await gateway.visitor();
  await first.welcome();
  const params = { command: ["/bin/sh", "-lc", "while [ ! -e go ]; do sleep 0.05; done; echo finished"], sessionKey: "agent:main:main" };
  const payload = { id: "left", nodeId: "n", command: "system.run", paramsJSON: JSON.stringify(params), timeoutMs: 30_000, idempotencyKey: "left" };
  first.send({ type: "event", event: "node.invoke.request", payload });
  first.send({ type: "event", event: "node.invoke.request", payload: { id: "bad", nodeId: "n", command: "system.run", paramsJSON: "{no" } });
  expect(await resultOf(first)).toMatchObject({ id: "bad", ok: false, error: { code: "INVALID_REQUEST", message: "paramsJSON is not JSON" } });
  first.socket.terminate();
  const second = await gateway.visitor();
  await second.welcome();
  ask(second, "touch go");
  let reported: unknown;
  while (reported === undefined) {
    const asked = await second.take();
    second.answer(asked, asked.params["id"] === "left" ? { ok: true, ignored: true } : { ok: true });
    if (asked.method === "node.event") reported = asked.params;
  }
  expect(reported).toEqual(
    expect.objectContaining({
      event: "exec.finished",
      payload: expect.objectContaining({ sessionKey: "agent:main:main", runId: "left", exitCode: 0, output: "finished\n" }),
    }),
  );
  expect(host.child.exitCode).toBeNull();
});

test("a host that is refused tries again and says what to do", async () => {
  await using gateway = await startScripted();
  await using host = startHost(gateway.url);
  const first = await gateway.visitor();
  first.refuse(await first.take(), { code: "NOT_PAIRED", message: "pairing required", details: { requestId: "request-7" } });
  first.socket.close(1008, "pairing required");
  await host.waitFor("devices approve request-7");
  const second = await gateway.visitor();
  await second.welcome();
  await host.waitFor("connected to");
});
