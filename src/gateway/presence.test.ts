import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createPresence, parsePresenceText, type ClientPresence } from "./presence.ts";

function setUp(over: { readonly ip?: string } = {}) {
  const clock = manualClock();
  let announced = 0;
  const presence = createPresence({ clock, host: "box", version: "1.2.3", platform: "linux", ...over, onChange: () => (announced += 1) });
  return { clock, presence, announced: () => announced };
}

const client = (over: Partial<ClientPresence> = {}, mode = "ui"): ClientPresence => ({
  connId: "C-1",
  client: { id: "gateway-client", mode, version: "2.0", platform: "macos", displayName: "Laptop" },
  role: "operator",
  scopes: ["operator.read"],
  ...over,
});

test("the gateway is always there, first, and says so in words", () => {
  const { presence, clock } = setUp({ ip: "10.0.0.5" });
  clock.advance(3_600_000);
  expect(presence.list()).toEqual([
    {
      host: "box",
      ip: "10.0.0.5",
      version: "1.2.3",
      platform: "linux",
      mode: "gateway",
      reason: "self",
      text: "Gateway: box (10.0.0.5) · app 1.2.3 · mode gateway · reason self",
      ts: clock.now(),
    },
  ]);
});

test("a client is entered with its name, without its address when it is local, and nobody is notified", () => {
  const { presence, clock, announced } = setUp();
  const before = presence.version;
  expect(presence.connected(client({ deviceId: "ABC" }))).toBe("abc");
  expect(presence.list()[1]).toEqual({
    host: "Laptop",
    version: "2.0",
    platform: "macos",
    mode: "ui",
    deviceId: "ABC",
    reason: "connect",
    text: "Node: Laptop · mode ui",
    roles: ["operator"],
    scopes: ["operator.read"],
    ts: clock.now(),
  });
  expect([presence.version - before, announced()]).toEqual([1, 0]);
});

test("the key is the device, else the instance, else the connection; without a name the client's id stands", () => {
  const { presence } = setUp();
  const { displayName: _, ...nameless } = client().client;
  expect(presence.connected(client({ client: { ...nameless, instanceId: "I-9" } }))).toBe("i-9");
  expect(presence.list()[1]).toMatchObject({ host: "gateway-client", text: "Node: gateway-client · mode ui" });
  expect(presence.connected(client())).toBe("c-1");
});

test("command lines come and go untracked", () => {
  const { presence } = setUp();
  expect(presence.connected(client({}, "cli"))).toBeUndefined();
  expect(presence.list()).toHaveLength(1);
});

test("who leaves stays listed for five minutes, and everyone is notified", () => {
  const { presence, clock, announced } = setUp();
  const key = presence.connected(client({ remoteIp: "10.0.0.9" }))!;
  presence.disconnected(key);
  expect(announced()).toBe(1);
  clock.advance(299_999);
  expect(presence.list()[1]).toMatchObject({ reason: "disconnect", ip: "10.0.0.9" });
  clock.advance(1);
  expect(presence.list()).toHaveLength(1);
});

test("who has two connections leaves with the last of them; each close is announced", () => {
  const { presence, announced } = setUp();
  const keys = [presence.connected(client({ deviceId: "d", connId: "c1" }))!, presence.connected(client({ deviceId: "d", connId: "c2" }))!];
  const before = presence.version;
  presence.disconnected(keys[0]!);
  expect(presence.list()[1]).toMatchObject({ deviceId: "d", reason: "connect" });
  expect([presence.version - before, announced()]).toEqual([1, 1]);
  presence.disconnected(keys[1]!);
  expect(presence.list()[1]).toMatchObject({ deviceId: "d", reason: "disconnect" });
  presence.disconnected(presence.connected(client({ deviceId: "d", connId: "c3" }))!);
  expect(presence.list()[1]).toMatchObject({ reason: "disconnect" });
  expect(presence.version - before).toBe(4);
});

test("roles and scopes of one device accumulate", () => {
  const { presence } = setUp();
  presence.connected(client({ deviceId: "d" }));
  presence.connected(client({ deviceId: "d", role: "node", scopes: ["operator.write", "operator.read"] }));
  expect(presence.list()[1]).toMatchObject({ roles: ["operator", "node"], scopes: ["operator.read", "operator.write"] });
});

test("no more than 200 are listed, the newest first, the oldest dropped", () => {
  const { presence, clock } = setUp();
  for (let i = 0; i < 300; i += 1) {
    clock.advance(1);
    presence.connected(client({ connId: `c${i}`, client: { ...client().client, displayName: `n${i}` } }));
  }
  const hosts = presence.list().map((entry) => entry.host);
  expect(hosts).toHaveLength(200);
  expect([hosts[1], hosts.at(-1)]).toEqual(["n299", "n101"]);
});

test.each([
  [
    "Node: mac (10.0.0.7) · app 2.1 · last input 42s ago · mode ui · reason periodic",
    { host: "mac", ip: "10.0.0.7", version: "2.1", lastInputSeconds: 42, mode: "ui", reason: "periodic" },
  ],
  ["Node: Peter's phone · mode node", { host: "Peter's phone", mode: "node" }],
  ["something else", {}],
  [`Node: ${"x".repeat(100_000)}`, { host: "x".repeat(1994) }],
])("a text is read into fields: %.40s", (text, fields) => {
  expect(parsePresenceText(text)).toEqual(fields);
});

test("a report is announced; it tells whether more than the time changed", () => {
  const { presence, clock, announced } = setUp();
  const text = "Node: mac (10.0.0.7) · app 2.1 · mode ui · reason periodic";
  expect(presence.update({ text, tags: ["a"] })).toBe(true);
  clock.advance(1000);
  expect(presence.update({ text, tags: ["a"] })).toBe(false);
  expect(presence.update({ text, tags: ["b"], mode: "node" })).toBe(true);
  expect(presence.list()[1]).toMatchObject({ host: "mac", mode: "node", tags: ["b"], text });
  expect(announced()).toBe(3);
});

test("fields that are not documented stay out", () => {
  const { presence } = setUp();
  presence.update({ text: "Node: x", idempotencyKey: "k" } as never);
  expect(Object.keys(presence.list()[1]!).sort()).toEqual(["host", "text", "ts"]);
});
