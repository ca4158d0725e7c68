import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { manualClock } from "../../src/base/clock.ts";
import { createBodyReader } from "../../src/gateway/http/body.ts";
import { HOOK_TOKEN, startSurface, TOKEN, type TestSurface } from "../harness/http-surface.ts";

let gateway: TestSurface;
afterEach(() => gateway[Symbol.asyncDispose]());

const head = (path: string, headers: readonly string[], secret?: string): string =>
  [`POST ${path} HTTP/1.1`, "Host: 127.0.0.1", ...(secret === undefined ? [] : [`Authorization: Bearer ${secret}`]), ...headers, "", ""].join("\r\n");

test("a caller without a secret is refused before its body is read, and its body is never kept", async () => {
  const bodies = createBodyReader({ clock: manualClock() });
  const asked: number[] = [];
  gateway = await startSurface({ bodies: { read: (request, limit) => (asked.push(limit), bodies.read(request, limit)), reserved: 0 } });
  for (const path of ["/v1/chat/completions", "/v1/responses", "/tools/invoke", "/hooks/agent"]) {
    // The answer comes although not one byte of the announced body was sent.
    const text = await gateway.raw(head(path, ["Content-Length: 1000000"]), "\r\n\r\n{");
    expect([path, text.slice(0, 12)]).toEqual([path, "HTTP/1.1 401"]);
  }
  expect(asked).toEqual([]);
});

test.each([
  ["/v1/chat/completions", 20_971_520, TOKEN, 400],
  ["/v1/responses", 20_971_520, TOKEN, 400],
  ["/tools/invoke", 2_097_152, TOKEN, 400],
  ["/hooks/wake", 262_144, HOOK_TOKEN, 503],
])("%s takes %i bytes and no more, announced or not", async (path, limit, token, read) => {
  gateway = await startSurface();
  const filled = (size: number): Buffer => Buffer.alloc(size, 0x20);
  expect((await gateway.ask(path, { method: "POST", token, body: filled(limit) })).status).toBe(read);
  expect((await gateway.ask(path, { method: "POST", token, body: filled(limit + 1) })).status).toBe(413);
  const socket = gateway.socket();
  const answer = once(socket, "data");
  socket.write(head(path, ["Transfer-Encoding: chunked"], token));
  const chunk = filled(65_536);
  for (let sent = 0; sent <= limit; sent += chunk.length) socket.write(Buffer.concat([Buffer.from("10000\r\n"), chunk, Buffer.from("\r\n")]));
  expect(String((await answer)[0])).toContain("HTTP/1.1 413");
});

test("a body on a route that takes none is refused", async () => {
  gateway = await startSurface();
  expect((await gateway.ask("/healthz", { body: "x" })).status).toBe(413);
});

test("slow bodies: a hundred callers that never finish hold almost nothing and are shown out after 30 s", async () => {
  const clock = manualClock();
  const bodies = createBodyReader({ clock });
  const begun = Promise.withResolvers<void>();
  let reading = 0;
  gateway = await startSurface({
    clock,
    bodies: {
      read(request, limit) {
        if (++reading === 100) begun.resolve();
        return bodies.read(request, limit);
      },
      get reserved() {
        return bodies.reserved;
      },
    },
  });
  const answers = Array.from({ length: 100 }, () => gateway.raw(`${head("/v1/responses", ["Content-Length: 20000000"], TOKEN)}{`, "\r\n\r\n{"));
  await begun.promise;
  // The announced 2 GB are not set aside: memory follows what arrived.
  expect(bodies.reserved).toBeLessThan(1_048_576);
  expect((await gateway.ask("/healthz")).status).toBe(200);
  clock.advance(29_999);
  expect((await gateway.ask("/healthz")).status).toBe(200);
  clock.advance(1);
  for (const text of await Promise.all(answers)) {
    expect(text).toContain("HTTP/1.1 408");
    expect(text).toContain('"type":"invalid_request_error"');
  }
  expect(bodies.reserved).toBe(0);
  expect(gateway.responder.requests).toEqual([]);
});

test("a caller that leaves inside its body starts nothing and frees its memory", async () => {
  const bodies = createBodyReader({ clock: manualClock() });
  const ended = Promise.withResolvers<unknown>();
  gateway = await startSurface({
    bodies: {
      async read(request, limit) {
        const result = await bodies.read(request, limit);
        ended.resolve(result);
        return result;
      },
      reserved: 0,
    },
  });
  const socket = gateway.socket();
  socket.write(`${head("/v1/chat/completions", ["Content-Length: 100"], TOKEN)}{"messages":`, () => socket.destroy());
  expect(await ended.promise).toMatchObject({ ok: false });
  expect(bodies.reserved).toBe(0);
  expect(gateway.responder.requests).toEqual([]);
  expect((await gateway.ask("/healthz")).status).toBe(200);
});

test("bad JSON is an error in the API's own shape", async () => {
  gateway = await startSurface();
  for (const path of ["/v1/chat/completions", "/v1/responses", "/tools/invoke"]) {
    const reply = await gateway.ask(path, { method: "POST", token: TOKEN, body: "{nope" });
    expect([path, reply.status, reply.json()]).toEqual([
      path,
      400,
      { error: { message: expect.stringContaining("Invalid JSON"), type: "invalid_request_error" } },
    ]);
  }
});
