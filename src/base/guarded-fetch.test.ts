import { gzipSync, brotliCompressSync, deflateSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loopbackLookup, startLoopbackServer, type LoopbackHandler, type LoopbackServer } from "./loopback-server.fixture.ts";
import { manualClock } from "./clock.ts";
import { guardedFetch, type GuardedRequest } from "./guarded-fetch.ts";

let server: LoopbackServer;
let handle: LoopbackHandler;
beforeEach(async () => {
  handle = (_request, response) => response.end("ok");
  server = await startLoopbackServer((...parts) => handle(...parts));
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

const open = { policy: { allowPrivateNetwork: true } };
async function text(request: Partial<GuardedRequest>, maxBytes = 1_000_000): Promise<string> {
  using answer = await guardedFetch({ url: server.url, ...open, ...request });
  return (await answer.read(maxBytes)).bytes.toString("utf8");
}

describe("a request", () => {
  test("connects to the address that was checked, even if the name resolves differently later", async () => {
    const answers = ["127.0.0.1", "10.255.255.1"];
    const lookup = async () => [{ address: answers.shift()!, family: 4 }];
    handle = (request, response) => response.end(request.headers.host);
    const url = `http://rebound.example:${server.port}/`;
    expect(await text({ url, lookup, policy: { allowedHostnames: ["rebound.example"] } })).toBe(`rebound.example:${server.port}`);
    expect(answers).toEqual(["10.255.255.1"]);
  });

  test("is refused before a connection is made when one of the addresses is private", async () => {
    const lookup = async () => [
      { address: "93.184.215.14", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    await expect(guardedFetch({ url: `http://mixed.example:${server.port}/`, lookup })).rejects.toMatchObject({
      code: "HOST_BLOCKED",
      details: { reason: "address" },
    });
    expect(server.connections()).toBe(0);
  });

  test.each([
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "javascript:alert(1)",
    "data:text/plain,x",
    "",
    "//example.com",
    "http://",
    "http://a\u0000b/",
  ])("for %j is refused: only http and https", async (url) => {
    await expect(guardedFetch({ url, ...open })).rejects.toMatchObject({ code: "HOST_BLOCKED", details: { reason: "url" } });
  });

  test("with a password in its URL is refused without showing it", async () => {
    const failure = guardedFetch({ url: `http://user:hunter2@127.0.0.1:${server.port}/`, ...open });
    await expect(failure).rejects.toMatchObject({ code: "HOST_BLOCKED", message: expect.not.stringContaining("hunter2") });
  });

  test("to a name without addresses fails", async () => {
    await expect(guardedFetch({ url: "http://nowhere.example/", lookup: async () => [] })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("that the network fails is typed, and says which host, why and what to do", async () => {
    const unknown = Object.assign(new Error("getaddrinfo ENOTFOUND nohost.invalid"), { code: "ENOTFOUND" });
    const lookup = (): Promise<never> => Promise.reject(unknown);
    await expect(guardedFetch({ url: "https://nohost.invalid/x.zip", lookup })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: "nohost.invalid could not be reached: its name is not known (ENOTFOUND); check the address and the network",
      cause: unknown,
    });
    await expect(guardedFetch({ url: `https://127.0.0.1:${server.port}/`, ...open })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("does not speak TLS"),
    });
    handle = (request) => request.socket.destroy();
    await expect(guardedFetch({ url: server.url, ...open })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("closed the connection"),
    });
    const closed = await startLoopbackServer();
    await closed[Symbol.asyncDispose]();
    handle = (_request, response) => response.writeHead(302, { location: `${closed.url}/there` }).end();
    await expect(guardedFetch({ url: server.url, ...open })).rejects.toThrow(`127.0.0.1:${closed.port} could not be reached`);
    await expect(guardedFetch({ url: closed.url, ...open })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: `127.0.0.1:${closed.port} could not be reached: it refuses the connection (ECONNREFUSED); check the address and whether the server runs`,
    });
  });

  test("carries a body and returns status and headers", async () => {
    handle = (_request, response, body) => response.writeHead(201, { "x-got": body }).end();
    using answer = await guardedFetch({ url: server.url, method: "post", body: "hällo".slice(0, 1), ...open });
    expect([answer.status, answer.statusText, answer.header("X-Got"), server.requests[0]!.method]).toEqual([201, "Created", "h", "POST"]);
  });
});

describe("a redirect", () => {
  const to = (status: number, location: string): void => {
    handle = (request, response) => (request.url === "/" ? response.writeHead(status, { location }).end() : response.end("arrived"));
  };

  test.each([
    "http://10.0.0.1/",
    "http://[::1]/",
    "http://169.254.169.254/latest/",
    "//127.0.0.2/",
    "http://localhost:1/",
    "file:///etc/passwd",
    "http://a:b@127.0.0.1/",
  ])("to %s is checked like the first address", async (location) => {
    to(302, location);
    const url = `http://entry.example:${server.port}/`;
    await expect(guardedFetch({ url, lookup: loopbackLookup, policy: { allowedHostnames: ["entry.example"] } })).rejects.toMatchObject({
      code: "HOST_BLOCKED",
    });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [303, "HEAD", "HEAD", ""],
    [307, "POST", "POST", "x"],
    [308, "PUT", "PUT", "x"],
    [302, "PUT", "PUT", "x"],
  ])("%i turns %s into %s", async (status, method, becomes, body) => {
    to(status, "/there");
    await text({ method, body: method === "HEAD" ? undefined : "x", headers: { "content-type": "text/plain" } });
    expect(server.requests[1]).toMatchObject({ method: becomes, path: "/there", body });
    expect(server.requests[1]!.headers["content-type"]).toBe(body ? "text/plain" : undefined);
  });

  test("keeps credentials on the same origin and drops them for good after leaving it", async () => {
    await using other = await startLoopbackServer((_request, response) => response.writeHead(302, { location: `${server.url}/back` }).end());
    to(302, `${other.url}/other`);
    const headers = { authorization: "Bearer t", cookie: "c=1", "proxy-authorization": "p", accept: "text/plain" };
    expect(await text({ headers })).toBe("arrived");
    expect(server.requests[0]!.headers).toMatchObject(headers);
    for (const { headers: sent } of [other.requests[0]!, server.requests[1]!]) {
      expect(sent).toMatchObject({ accept: "text/plain" });
      for (const name of ["authorization", "cookie", "proxy-authorization"]) expect(sent).not.toHaveProperty(name);
    }
  });

  test("is followed up to the limit, and never in a loop", async () => {
    handle = (request, response) => response.writeHead(302, { location: `/${Number(request.url!.slice(1)) + 1}` }).end();
    await expect(text({ maxRedirects: 2 })).rejects.toThrow(/more than 2 times/);
    expect(server.requests).toHaveLength(3);
    to(302, "/");
    await expect(text({ maxRedirects: 100 })).rejects.toThrow(/in a circle/);
    expect(server.requests).toHaveLength(4);
  });

  test("without a location is returned as the answer", async () => {
    handle = (_request, response) => response.writeHead(302).end("stay");
    expect(await text({})).toBe("stay");
  });
});

describe("a body", () => {
  test("is read up to the limit and no further", async () => {
    let written = 0;
    let closed = false;
    handle = (_request, response) => {
      response.on("close", () => (closed = true));
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(65_536))) written += 65_536;
      };
      response.on("drain", more);
      more();
    };
    using answer = await guardedFetch({ url: server.url, ...open });
    const { bytes, truncated } = await answer.read(100_000);
    expect([bytes.length, truncated]).toEqual([100_000, true]);
    await expect.poll(() => closed).toBe(true);
    expect(written).toBeLessThan(50_000_000);
  });

  test("exactly as long as the limit is not truncated", async () => {
    handle = (_request, response) => response.end("12345");
    using answer = await guardedFetch({ url: server.url, ...open });
    expect(await answer.read(5)).toEqual({ bytes: Buffer.from("12345"), truncated: false });
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("packed as %s is unpacked, and bounded after unpacking", async (coding, pack) => {
    handle = (_request, response) => response.setHeader("content-encoding", coding).end(pack("a".repeat(10_000_000)));
    expect(await text({}, 1000)).toBe("a".repeat(1000));
  });

  test("with an unknown or broken content encoding fails", async () => {
    handle = (_request, response) => response.setHeader("content-encoding", "zz").end("x");
    await expect(text({})).rejects.toThrow(/packed in a way/);
    handle = (_request, response) => response.setHeader("content-encoding", "gzip").end("no gzip");
    await expect(text({})).rejects.toThrow(/header check/);
  });
});

describe("the timeout", () => {
  test("covers everything up to the last byte", async () => {
    const clock = manualClock();
    handle = (_request, response) => response.write("half");
    using answer = await guardedFetch({ url: server.url, timeoutMs: 1000, clock, ...open });
    const reading = answer.read(1000);
    clock.advance(999);
    clock.advance(1);
    await expect(reading).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("covers name lookup and waiting for the answer", async () => {
    const clock = manualClock();
    const looked = Promise.withResolvers<void>();
    const slow = guardedFetch({ url: "http://slow.example/", timeoutMs: 50, clock, lookup: () => (looked.resolve(), new Promise(() => {})) });
    await looked.promise;
    clock.advance(50);
    await expect(slow).rejects.toMatchObject({ code: "TIMEOUT" });
    const asked = Promise.withResolvers<void>();
    handle = () => asked.resolve();
    const silent = guardedFetch({ url: server.url, timeoutMs: 50, clock, ...open });
    await asked.promise;
    clock.advance(50);
    await expect(silent).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("is cut short by the caller's signal, with the caller's reason", async () => {
    const stop = new AbortController();
    const asked = Promise.withResolvers<void>();
    handle = () => asked.resolve();
    const request = guardedFetch({ url: server.url, signal: stop.signal, ...open });
    await asked.promise;
    stop.abort(new Error("enough"));
    await expect(request).rejects.toThrow("enough");
    await expect(guardedFetch({ url: server.url, signal: stop.signal, ...open })).rejects.toThrow("enough");
  });
});
