import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { silentLogger } from "../base/log/logger.ts";
import { listen, type Listening, type ServerSettings } from "./server.ts";

const open: Listening[] = [];
let other: Server | undefined;
afterEach(async () => {
  for (const { server } of open.splice(0)) await server[Symbol.asyncDispose]();
  other?.close();
});

const settings = (over: Partial<ServerSettings> = {}): ServerSettings => ({ port: 0, authMode: "token", ...over });

async function start(lifetime: { listening: ServerSettings | undefined }, over: Partial<ServerSettings> = {}): Promise<Listening> {
  const listening = await listen({ settings: settings(over), log: silentLogger, stateDir: "/", env: {} }, lifetime);
  open.push(listening);
  return listening;
}

async function takenPort(): Promise<number> {
  other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  return (other.address() as AddressInfo).port;
}

test("a restart onto a port that is taken keeps the one it had, and says so", async () => {
  const port = await takenPort();
  const lifetime = { listening: undefined as ServerSettings | undefined };
  const first = await start(lifetime);
  await open.pop()!.server[Symbol.asyncDispose]();
  const second = await start(lifetime, { port });
  expect(second.server.port).toBe(first.server.port);
  expect(second.problem).toMatch(new RegExp(`still listens on port ${first.server.port} .*could not switch to port ${port} .*already listening`));
});

test("a restart onto an address that this machine does not have keeps the one it had", async () => {
  const lifetime = { listening: undefined as ServerSettings | undefined };
  const { server } = await start(lifetime);
  await open.pop()!.server[Symbol.asyncDispose]();
  const second = await start(lifetime, { bind: "custom", host: "203.0.113.7" });
  expect([second.server.port, second.problem]).toEqual([server.port, expect.stringContaining("203.0.113.7")]);
});

test("a first start on a port that is taken fails", async () => {
  await expect(start({ listening: undefined }, { port: await takenPort() })).rejects.toMatchObject({ code: "LOCKED" });
});

test("nobody is let near without authentication because the old address was open", async () => {
  const lifetime = { listening: undefined as ServerSettings | undefined };
  await start(lifetime, { bind: "lan" });
  await open.pop()!.server[Symbol.asyncDispose]();
  await expect(start(lifetime, { bind: "lan", authMode: "none" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
