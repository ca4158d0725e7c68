import { expect, test } from "vitest";
import { allowing, commandLists, joinCommands, keyOf, nodeName, nodeRequests, plainLooks, platformName } from "./node-facts.ts";

const device = { requestId: "r1", deviceId: "0123456789abcdef", publicKey: "k", role: "node", ts: 20 };

test("requests of devices that want to be nodes and of announced nodes are one list, oldest first", () => {
  const own = { requestId: "r2", nodeId: "shed", displayName: "Shed", platform: "linux", commands: ["system.run"], isRepair: true, ts: 10 };
  const found = nodeRequests(
    [device, { ...device, requestId: "r3", role: "operator" }, { ...device, requestId: "r4", role: "", roles: ["node"], ts: 30 }],
    [own],
  );
  expect(found.map(({ requestId, kind, name }) => [requestId, kind, name])).toEqual([
    ["r2", "node", "Shed"],
    ["r1", "device", "Node 01234567"],
    ["r4", "device", "Node 01234567"],
  ]);
  expect(found[0]).toMatchObject({ commands: ["system.run"], isRepair: true });
});

test("platforms have the names that people know", () => {
  expect(["linux", "darwin", "macOS 15.1", "win32", "iPadOS 18", "toaster", undefined].map(platformName)).toEqual([
    "Linux",
    "macOS",
    "macOS 15.1",
    "Windows",
    "iPadOS 18",
    "toaster",
    "",
  ]);
  expect(nodeName({ displayName: "  ", nodeId: "0123456789" })).toBe("Node 01234567");
});

test("a command is allowed by the key that refuses it", () => {
  const lists = commandLists({ gateway: { nodes: { allowCommands: ["file.read"], denyCommands: [" system.notify ", "sms.send"] } } });
  const denied = { command: "system.notify", why: "denied" } as const;
  const missing = { command: "camera.snap", why: "not-allowed" } as const;
  expect([denied, missing].map(keyOf)).toEqual(["gateway.nodes.denyCommands", "gateway.nodes.allowCommands"]);
  expect(allowing(denied, lists)).toEqual({ allow: ["file.read"], deny: ["sms.send"] });
  expect(allowing(missing, commandLists({}))).toEqual({ allow: ["camera.snap"], deny: [] });
});

test("only commands that change nothing and need nothing have a button", () => {
  expect(plainLooks(["camera.list", "camera.snap", "system.run", "device.info"])).toEqual(["camera.list", "device.info"]);
});

test("the command to paste names the gateway as the page reached it, and a tunnel where there is no TLS", () => {
  expect(joinCommands({ protocol: "https:", hostname: "claw.example", port: "" })).toEqual({
    run: "openclaw node run --host claw.example --port 443 --tls",
    tunnel: undefined,
  });
  expect(joinCommands({ protocol: "http:", hostname: "127.0.0.1", port: "18789" })).toEqual({
    run: "openclaw node run --host 127.0.0.1 --port 18789",
    tunnel: "ssh -N -L 18789:127.0.0.1:18789 user@gateway",
  });
  expect(joinCommands({ protocol: "http:", hostname: "10.0.0.5", port: "18789" }).tunnel).toBe("ssh -N -L 18789:127.0.0.1:18789 user@10.0.0.5");
  expect(joinCommands({ protocol: "https:", hostname: "[fd00::1]", port: "8443" }).run).toBe("openclaw node run --host fd00::1 --port 8443 --tls");
});
