import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createIds } from "../../src/base/ids.ts";
import { seededRandom } from "../../src/base/random.ts";
import { openGuardProxy, type GuardProxy } from "../../src/browser/guard-proxy.ts";

async function stage(): Promise<{ readonly proxy: GuardProxy; readonly port: number; readonly target: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((asked, response) => {
    seen.push(JSON.stringify(asked.headers));
    response.end("there");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await openGuardProxy({ policy: () => ({ allowedHostnames: ["127.0.0.1"] }), ids: createIds(seededRandom(7)) });
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]();
    server.close();
  });
  return { proxy, port: Number(new URL(proxy.url).port), target: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const basic = (username: string, password: string): string => `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

async function get(port: number, url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const asked = request({ host: "127.0.0.1", port, path: url, headers }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

async function tunnel(port: number, target: string, header = ""): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${header}\r\n`);
  const [data] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return data.toString().split("\r\n")[0] ?? "";
}

test("only the browser it was made for may use the proxy: any other process of this machine reaches nothing through it", async () => {
  const { proxy, port, target, seen } = await stage();
  const right = basic(proxy.username, proxy.password);
  for (const header of [
    undefined,
    "",
    "Basic",
    basic(proxy.username, ""),
    basic("", proxy.password),
    basic(proxy.username, `${proxy.password}x`),
    proxy.password,
  ]) {
    expect(await get(port, `http://${target}/`, header === undefined ? {} : { "proxy-authorization": header })).toBe(407);
    expect(await tunnel(port, target, header === undefined ? "" : `Proxy-Authorization: ${header}\r\n`)).toContain(" 407 ");
  }
  expect(seen).toEqual([]);
  expect(await get(port, `http://${target}/`, { "proxy-authorization": right })).toBe(200);
  expect(await tunnel(port, target, `Proxy-Authorization: ${right}\r\n`)).toContain(" 200 ");
  expect(seen.join("")).not.toContain("authorization");
});
