import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { loadHttp } from "../../base/builtin.ts";
import { post } from "./post.ts";

async function serve(answer: RequestListener): Promise<string> {
  const server = loadHttp().createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const init = (signal = new AbortController().signal) =>
  ({ method: "POST", headers: { "content-type": "application/json" }, body: Buffer.from('{"a":1}'), signal, redirect: "error" }) as const;

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body ?? []) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

test("the bytes arrive unchanged, and status, headers and body of the answer are returned", async () => {
  const url = await serve((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => response.writeHead(201, { "x-request-id": "r1" }).end(`${request.method} ${request.headers["content-length"]} ${body}`));
  });
  const answer = await post(url, init());
  expect([answer.ok, answer.status, answer.headers.get("X-Request-Id"), answer.headers.get("nothing")]).toEqual([true, 201, "r1", null]);
  expect(await textOf(answer.body)).toBe('POST 7 {"a":1}');
});

test("an answer that is compressed without being asked to is decompressed", async () => {
  const url = await serve((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("small")));
  expect(await textOf((await post(url, init())).body)).toBe("small");
});

test("a redirect is not followed: credentials go nowhere else", async () => {
  const url = await serve((_request, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end());
  await expect(post(url, init())).rejects.toThrow(/redirects to another address/);
});

test("a truncated body is an error, and an abort ends the request at the server", async () => {
  const broken = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("half");
    setImmediate(() => response.destroy());
  });
  await expect(post(broken, init()).then(({ body }) => textOf(body))).rejects.toThrow(/aborted/);
  const ended = Promise.withResolvers<void>();
  const hanging = await serve((_request, response) => {
    response.on("close", ended.resolve);
    response.writeHead(200).write("x");
  });
  const controller = new AbortController();
  const answer = await post(hanging, init(controller.signal));
  controller.abort();
  await textOf(answer.body).catch(() => undefined);
  await ended.promise;
});
