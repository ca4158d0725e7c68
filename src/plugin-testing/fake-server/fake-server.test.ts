import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { loadHttp } from "../../base/builtin.ts";
import { createDeliveries } from "./deliveries.ts";
import { startFakeServer } from "./server.ts";

const PATIENCE = { timeout: 10_000, interval: 10 };

test("an event is brought until it is taken, and those behind it in its lane wait", async () => {
  const brought: string[] = [];
  let refusals = 2;
  using deliveries = createDeliveries<string>({
    againMs: 1,
    send(event) {
      brought.push(event);
      return event !== "a1" || (refusals -= 1) < 0;
    },
  });
  await Promise.all([deliveries.deliver("a1", "a"), deliveries.deliver("a2", "a"), deliveries.deliver("b1", "b")]);
  expect(brought.filter((event) => event.startsWith("a"))).toEqual(["a1", "a1", "a1", "a2"]);
  expect(brought.indexOf("b1")).toBeLessThan(brought.indexOf("a2"));
});

test("redelivery brings an event five times at once, each as an attempt of its own; each is brought until it is taken", async () => {
  const attempts: number[] = [];
  using deliveries = createDeliveries<string>({ againMs: 1, send: (_event, attempt) => attempts.push(attempt) > 3 });
  await deliveries.deliver("one");
  attempts.length = 0;
  await deliveries.redeliver("one");
  expect(attempts).toHaveLength(3 + 5);
  expect(new Set(attempts).size).toBe(8);
  await deliveries.redeliver("one", 2);
  expect(attempts).toHaveLength(10);
});

test("what is delivered in a reordering goes out last first, and after it in order again", async () => {
  const brought: string[] = [];
  using deliveries = createDeliveries<string>({ send: (event) => brought.push(event) > 0 });
  let first: Promise<void> | undefined;
  await deliveries.reorder(() => {
    first = deliveries.deliver("one");
    for (const event of ["two", "three"]) void deliveries.deliver(event);
    expect(brought).toEqual([]);
  });
  await first;
  for (const event of ["four", "five"]) await deliveries.deliver(event);
  expect(brought).toEqual(["three", "two", "one", "four", "five"]);
});

test("deliveries that end bring nothing again", async () => {
  const deliveries = createDeliveries<string>({ againMs: 1, send: () => false });
  const never = deliveries.deliver("one");
  deliveries[Symbol.dispose]();
  await never;
});

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

test("revoked credentials: every request is refused without an effect, WebSockets are reset and refused, until they are restored", async () => {
  let effects = 0;
  await using server = await startFakeServer({ handle: () => ({ body: { effects: (effects += 1) } }), socket: () => {} });
  const socket = new WebSocket(server.url.replace("http", "ws"));
  await once(socket, "open");
  const gone = once(socket, "close");
  server.revoke();
  await gone;
  expect([await statusOf(server.url), effects]).toEqual([401, 0]);
  const refused = new WebSocket(server.url.replace("http", "ws"));
  expect(String((await once(refused, "error"))[0])).toContain("401");
  server.revoke({ status: 403, body: { error: "suspended" } });
  expect(await statusOf(server.url)).toBe(403);
  server.restore();
  expect([await statusOf(server.url), effects]).toEqual([200, 1]);
  expect(server.asked).toHaveLength(5);
});

test("a frozen connection stays open and is silent; a new one works", async () => {
  await using server = await startFakeServer({ handle: () => ({ body: {} }) });
  const { Agent, request } = loadHttp();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () => request(`${server.url}/`, { agent });
  const [response] = await new Promise<[{ resume(): unknown }]>((resolve) =>
    ask()
      .once("response", (...found) => resolve(found))
      .end(),
  );
  response.resume();
  await expect.poll(() => Object.keys(agent.freeSockets).length, PATIENCE).toBe(1);
  server.freeze();
  const silent = ask();
  silent.on("error", () => {});
  silent.end();
  expect(await statusOf(server.url)).toBe(200);
  expect([server.asked.length, silent.destroyed]).toEqual([2, false]);
  agent.destroy();
});
