import { mkdtempSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLogger } from "../base/log/logger.ts";
import { networkAddress, resolveBinding } from "./bind.ts";
import { openServer, type GatewayServer, type ServerSettings } from "./server.ts";

const custom = (host: string | undefined) => resolveBinding("custom", host, () => ({})).addresses;

test.each([
  ["192.168.1.10", ["192.168.1.10", "127.0.0.1"]],
  [" 192.168.1.10 ", ["192.168.1.10", "127.0.0.1"]],
  ["fd00::10", ["fd00::10", "127.0.0.1"]],
  ["::", ["::", "127.0.0.1"]],
  ["0.0.0.0", ["0.0.0.0"]],
  ["127.0.0.1", ["127.0.0.1"]],
  ["127.0.0.2", ["127.0.0.2", "127.0.0.1"]],
  ["::1", ["::1", "127.0.0.1"]],
  ["localhost", ["127.0.0.1", "::1"]],
])("gateway.customBindHost %s is listened on, and this machine reaches it on 127.0.0.1", (host, addresses) => {
  expect(custom(host)).toEqual(addresses);
});

test.each([undefined, "", "  "])("custom without an address (%j) names the key to set", (host) => {
  expect(() => custom(host)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining("gateway.customBindHost") }));
});

test.each(["my-box.lan", "*", "192.168.1", "10.0.0.0/8", "[::1]", "0x7f000001"])("%s is no address to listen on", (host) => {
  expect(() => custom(host)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(`"${host}" is not an IP address`) }));
});

async function listen(settings: Partial<ServerSettings>, lines: string[] = []): Promise<GatewayServer> {
  const log = { ...silentLogger, warn: (message: string) => void lines.push(message) };
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-bind-"));
  return openServer({ settings: { port: 0, authMode: "token", bind: "custom", ...settings }, log, stateDir, env: {} });
}

const own = networkAddress(networkInterfaces());
test.each(["0.0.0.0", ...(own === undefined ? [] : [own])])("%s is exposed: it needs authentication and is warned of, as lan is", async (host) => {
  await expect(listen({ host, authMode: "none" })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("gateway.auth") });
  const lines: string[] = [];
  await using server = await listen({ host }, lines);
  expect(server.addresses).toContain(host);
  expect(lines).toEqual([expect.stringContaining(`listening on ${host} port ${server.port}`)]);
});

test("a custom address on loopback is not exposed: no authentication is needed, and nobody is warned", async () => {
  const lines: string[] = [];
  await using server = await listen({ host: "127.0.0.1", authMode: "none" }, lines);
  expect([server.addresses, lines]).toEqual([["127.0.0.1"], []]);
});
