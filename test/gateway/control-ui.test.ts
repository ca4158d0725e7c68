import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { startSurface, type SurfaceOptions, type TestSurface } from "../harness/http-surface.ts";

const INDEX = `<!doctype html><html lang="en"><head><base href="./" /><script type="module" src="./assets/main-Ab3_d-9x.js"></script></head><body>${"the page ".repeat(200)}</body></html>\n`;
const SCRIPT = `console.log("main");\n`.repeat(100);
const SECRET = "outside of the page's folder";

let place: string;
let root: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "control-ui-"));
  root = join(place, "ui");
  mkdirSync(join(root, "assets", "deep"), { recursive: true });
  const put = (name: string, content: string | Buffer): void => writeFileSync(join(root, name), content);
  put("index.html", INDEX);
  put("icon.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>");
  put("notes.unknown", "no type");
  put("assets/main-Ab3_d-9x.js", SCRIPT);
  put("assets/main-Ab3_d-9x.js.br", brotliCompressSync(SCRIPT));
  put("assets/main-Ab3_d-9x.js.gz", gzipSync(SCRIPT));
  put("assets/look-Zz12345_.css", "body{}");
  put("assets/look-Zz12345_.css.gz", gzipSync("body{}"));
  put("assets/plain.js", "plain");
  put("assets/deep/empty-00000000.js", "");
  writeFileSync(join(place, "secret.js"), SECRET);
  writeFileSync(join(place, "secret.json"), SECRET);
  symlinkSync(join(place, "secret.js"), join(root, "assets", "link-12345678.js"));
  symlinkSync(place, join(root, "assets", "up"));
  symlinkSync("loop.js", join(root, "assets", "loop.js"));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}

type Ui = NonNullable<NonNullable<OpenClawConfig["gateway"]>["controlUi"]>;
const start = (ui: Ui = {}, options: SurfaceOptions = {}): Promise<TestSurface> =>
  startSurface({ ...options, config: { gateway: { controlUi: { root, ...ui } }, hooks: { enabled: true, token: "hook-token-0123456789" } } });

describe("at the root", () => {
  let gateway: TestSurface;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());
  const MAIN = "/assets/main-Ab3_d-9x.js";

  test("the page is served with its address in it, and nothing else is changed", async () => {
    const page = await gateway.ask("/");
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.body).toBe(INDEX.replace('<base href="./" />', '<base href="/">'));
  });

  test("fifty files over one connection leave no warning behind", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const local = new Set<number | undefined>();
    for (let at = 0; at < 50; at += 1) {
      const status = await new Promise((resolve, reject) => {
        const request = get(`${gateway.url}${MAIN}`, { agent }, (response) => {
          local.add(response.socket.localPort);
          response.resume().on("end", () => resolve(response.statusCode));
        });
        request.on("error", reject);
      });
      expect(status).toBe(200);
    }
    agent.destroy();
    await new Promise(setImmediate);
    process.off("warning", note);
    expect([local.size, warnings.map(String)]).toEqual([1, []]);
  });

  test("the page may load its own files and speak to its own host, and nothing else; it cannot be framed or kept", async () => {
    const { headers } = await gateway.ask("/");
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringMatching(/camera=\(\).*microphone=\(self\)/),
    });
    const policy = Object.fromEntries(
      String(headers["content-security-policy"])
        .split("; ")
        .map((part) => [part.split(" ")[0], part.split(" ").slice(1).join(" ")]),
    );
    expect(policy).toEqual({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "img-src": "'self' data: blob:",
      "media-src": "'self' data: blob:",
      "font-src": "'self'",
      "connect-src": `'self' ws://127.0.0.1:${gateway.port} wss://127.0.0.1:${gateway.port}`,
      "frame-src": `http://127.0.0.1:${gateway.port}/__openclaw__/cap/ https://127.0.0.1:${gateway.port}/__openclaw__/cap/`,
      "manifest-src": "'self'",
      "worker-src": "'self'",
      "base-uri": "'self'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
      "require-trusted-types-for": "'script'",
      "trusted-types": "lit-html openclaw-worker openclaw-offline",
    });
  });

  test("a Host that is no plain name does not get into the policy", async () => {
    for (const host of ["[::1]:1", "x;script-src *", "x y", "*", "a,b", "'self'"]) {
      const { headers, status } = await gateway.ask("/", { headers: { host } });
      if (status === 200) expect(headers["content-security-policy"]).toContain("connect-src 'self'; ");
      else expect(status).toBe(403);
    }
  });

  test("the page comes packed where the browser takes that", async () => {
    const expected = INDEX.replace('<base href="./" />', '<base href="/">');
    const br = await gateway.ask("/", { headers: { "accept-encoding": "gzip, br" } });
    expect([br.headers["content-encoding"], br.headers["vary"], brotliDecompressSync(br.bytes).toString()]).toEqual(["br", "Accept-Encoding", expected]);
    const gzip = await gateway.ask("/chat", { headers: { "accept-encoding": "gzip" } });
    expect([gzip.headers["content-encoding"], gunzipSync(gzip.bytes).toString()]).toEqual(["gzip", expected]);
  });

  test("a file is sent in the smallest form that is there and that the browser takes", async () => {
    const forms = { "br, gzip": brotliDecompressSync, gzip: gunzipSync, "identity;q=1, br;q=0": (bytes: Buffer) => bytes, zstd: (bytes: Buffer) => bytes };
    const tags = new Set<unknown>();
    for (const [accepted, unpack] of Object.entries(forms)) {
      const { headers, bytes, status } = await gateway.ask(MAIN, { headers: { "accept-encoding": accepted } });
      expect([status, unpack(bytes).toString()]).toEqual([200, SCRIPT]);
      expect(headers).toMatchObject({ "content-type": "text/javascript; charset=utf-8", vary: "Accept-Encoding", "content-length": String(bytes.length) });
      tags.add(headers["etag"]);
    }
    expect(tags.size).toBe(3);
    const css = await gateway.ask("/assets/look-Zz12345_.css", { headers: { "accept-encoding": "br, gzip" } });
    expect([css.headers["content-encoding"], css.headers["content-type"]]).toEqual(["gzip", "text/css; charset=utf-8"]);
  });

  test("files that are named after their content are kept for ever, others are asked for again", async () => {
    for (const path of [MAIN, "/assets/look-Zz12345_.css", "/assets/deep/empty-00000000.js"])
      expect((await gateway.ask(path)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    for (const path of ["/icon.svg", "/assets/plain.js"]) expect((await gateway.ask(path)).headers["cache-control"]).toBe("no-cache");
  });

  test("nothing of the request is in an answer that caches keep", async () => {
    const [one, other] = [await gateway.ask(MAIN), await gateway.ask(MAIN, { headers: { host: "localhost:1234", origin: "http://localhost:1234" } })];
    const { date: _one, ...first } = one.headers;
    const { date: _other, ...second } = other.headers;
    expect(second).toEqual(first);
  });

  test("a browser that has a file already gets 304, until it changes", async () => {
    const { headers } = await gateway.ask("/icon.svg");
    const again = (etag: string) => gateway.ask("/icon.svg", { headers: { "if-none-match": etag } });
    const known = await again(`"other", W/${String(headers["etag"])}`);
    expect([known.status, known.body, known.headers["etag"], known.headers["cache-control"], known.headers["vary"]]).toEqual([
      304,
      "",
      headers["etag"],
      "no-cache",
      "Accept-Encoding",
    ]);
    utimesSync(join(root, "icon.svg"), new Date(), new Date(1_700_000_000_000));
    expect((await again(String(headers["etag"]))).status).toBe(200);
  });

  test("HEAD is GET without the body, for pages and files", async () => {
    for (const path of ["/", "/chat/x", MAIN, "/assets/nothing.js", "/__openclaw/control-ui-config.json"]) {
      const [get, head] = [await gateway.ask(path), await gateway.ask(path, { method: "HEAD" })];
      expect([path, head.status, head.body, head.headers["content-length"]]).toEqual([path, get.status, "", get.headers["content-length"]]);
      expect(head.headers["etag"]).toBe(get.headers["etag"]);
    }
  });

  test("a path that looks like a page is the page, whatever it names", async () => {
    for (const path of ["/chat", "/chat/agent:main:main", "/chat/agent%3Amain%3Amail%3Ame%40example.com", "/config/x.json", "/index.html", "/a/b/c/"]) {
      const { status, body } = await gateway.ask(path);
      expect([path, status, body.includes("the page")]).toEqual([path, 200, true]);
    }
  });

  test("a file that is not there is not there, nor is one whose kind is not known", async () => {
    for (const path of [
      "/assets/gone-12345678.js",
      "/assets",
      "/assets/",
      "/assets/deep",
      "/assets/x",
      "/favicon.ico",
      "/robots.txt",
      "/main.js.map",
      `${MAIN}.br`,
      `${MAIN}.gz`,
      `${MAIN}/x.js`,
      `/assets/${"x".repeat(300)}.js`,
    ]) {
      const reply = await gateway.ask(path);
      expect([path, reply.status, reply.json()]).toEqual([path, 404, { error: { message: `not found: ${path}`, type: "not_found" } }]);
    }
    expect((await gateway.ask("/notes.unknown")).body).toContain("the page");
  });

  test("programs never get the page: what they ask for keeps its own answer", async () => {
    for (const path of [
      "/v1/nothing",
      "/v1",
      "/V1/models",
      "/tools",
      "/tools/nothing",
      "/hooks-none/../x",
      "/api/nothing",
      "/.well-known/security",
      "/slack/events",
      "/health/x",
    ])
      expect([path, [400, 404].includes((await gateway.ask(path)).status)]).toEqual([path, true]);
    for (const path of ["/v1/models", "/__openclaw__/canvas"]) expect([path, (await gateway.ask(path)).status]).toEqual([path, 401]);
    expect([(await gateway.ask("/healthz")).json(), (await gateway.ask("/hooks/wake")).status]).toEqual([{ ok: true, status: "live" }, 401]);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) expect([method, (await gateway.ask("/chat", { method })).status]).toEqual([method, 404]);
    expect((await gateway.ask("/", { method: "POST" })).headers["allow"]).toBe("GET, HEAD");
  });

  test("links that lead out of the folder lead nowhere", async () => {
    for (const path of ["/assets/link-12345678.js", "/assets/up/secret.js", "/assets/up/secret.json", "/assets/loop.js", "/assets/up/ui/assets/up/secret.js"]) {
      const { status, body } = await gateway.ask(path);
      expect([path, status, body.includes(SECRET)]).toEqual([path, 404, false]);
    }
  });

  test("no spelling of a path gets at a file outside", { timeout: 60_000 }, async () => {
    const part = fc.constantFrom(
      "..",
      ".",
      "%2e%2e",
      "..%2f",
      "%2e%2e%2f",
      "..\\",
      "%5c..",
      "..%5c",
      "%252e%252e",
      "..;",
      "%c0%ae%c0%ae",
      "assets",
      "up",
      "%00",
      "",
      "ui",
      "…",
    );
    const end = fc.constantFrom("secret.js", "secret.json", "secret%2ejs", "secret.js%00.js", "secret.js?x", "etc/passwd", "secret.js/");
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), end, async (parts, last) => {
        const target = Buffer.from(`GET /${[...parts, last].join("/")} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`, "utf8");
        const text = await gateway.raw(target);
        seen.add(text.slice(9, 12));
        expect(text).not.toMatch(/outside of the page|root:/);
      }),
      { numRuns: 400, seed: 8 },
    );
    expect([...seen].sort()).toEqual(["200", "400", "404"]);
  });

  test("a picture that is opened by itself may do nothing", async () => {
    const { headers } = await gateway.ask("/icon.svg");
    expect([headers["content-type"], headers["content-security-policy"]]).toEqual([
      "image/svg+xml; charset=utf-8",
      expect.stringMatching(/default-src 'none'.*sandbox/),
    ]);
  });

  test("nothing that is served repeats what stands in the query", async () => {
    for (const path of ["/", "/chat", MAIN, "/gone.js", "/__openclaw/control-ui-config.json"]) {
      const { body, headers } = await gateway.ask(`${path}?gatewayUrl=wss://evil.example&token=canary`);
      expect(body + JSON.stringify(headers)).not.toMatch(/evil\.example|canary/);
    }
  });

  test("callers that leave in the middle of a file hold nothing open", async () => {
    writeFileSync(join(root, "assets", "large-12345678.js"), "x".repeat(8_000_000));
    for (let round = 0; round < 20; round += 1) await gateway.raw("GET /assets/large-12345678.js HTTP/1.1\r\nHost: localhost\r\n\r\n", "xxx");
    const held = (): string[] => readdirSync("/proc/self/fd").flatMap((fd) => (targetOf(`/proc/self/fd/${fd}`).includes("large-12345678") ? [fd] : []));
    if (process.platform === "linux") await vi.waitFor(() => expect(held()).toEqual([]), { timeout: 20_000 });
    expect((await gateway.ask("/assets/large-12345678.js")).bytes.length).toBe(8_000_000);
  });
});

describe("below a base path", () => {
  let gateway: TestSurface;
  beforeAll(async () => {
    gateway = await start({ basePath: "/my claw/" });
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test("page, files and settings are there, and the page knows where it is", async () => {
    expect((await gateway.ask("/my%20claw/")).body).toContain('<base href="/my%20claw/">');
    expect((await gateway.ask("/my%20claw/chat/x")).body).toContain('<base href="/my%20claw/">');
    expect((await gateway.ask("/my%20claw/assets/main-Ab3_d-9x.js")).body).toBe(SCRIPT);
    expect((await gateway.ask("/my%20claw/__openclaw/control-ui-config.json")).json()).toMatchObject({ basePath: "/my claw" });
  });

  test("a request without the slash, or to the root, is redirected, without its query", async () => {
    for (const path of ["/my%20claw", "/", "/?token=x", "/my%20claw?token=x"]) {
      const reply = await gateway.ask(path);
      expect([path, reply.status, reply.headers["location"]]).toEqual([path, 302, "/my%20claw/"]);
    }
  });

  test("nothing of it is elsewhere", async () => {
    for (const path of ["/chat", "/assets/main-Ab3_d-9x.js", "/index.html", "/__openclaw/control-ui-config.json", "/my%20clawx", "/my"])
      expect([path, (await gateway.ask(path)).status]).toEqual([path, 404]);
  });
});

test("what the page shows before a login comes from the configuration; paths of files are not in it", async () => {
  const config = {
    gateway: { controlUi: { root } },
    ui: { assistant: { name: "Clawd" } },
    agents: { list: [{ id: "ops", default: true, identity: { avatar: "avatars/private.png", emoji: "🦞" } }] },
  } as const;
  await using gateway = await startSurface({ config: config as unknown as OpenClawConfig });
  const reply = await gateway.ask("/__openclaw/control-ui-config.json");
  expect(reply.json()).toEqual({
    basePath: "/",
    assistantName: "Clawd",
    assistantAvatar: "🦞",
    assistantAgentId: "ops",
    version: "1.2.3",
    program: "openclaw",
  });
  expect(reply.headers["cache-control"]).toBe("no-store");
});

test("where no page is built the welcome page says so, and nothing else is there", async () => {
  await using gateway = await start({ root: join(place, "nothing-here") });
  const page = await gateway.ask("/");
  expect([page.status, page.body]).toEqual([200, expect.stringContaining("is not built")]);
  for (const path of ["/chat", "/index.html", "/assets/main-Ab3_d-9x.js"]) expect([path, (await gateway.ask(path)).status]).toEqual([path, 404]);
});

test("a page that is turned off is not there", async () => {
  await using gateway = await start({ enabled: false });
  expect((await gateway.ask("/")).body).toContain("turned off by <code>gateway.controlUi.enabled</code>");
  for (const path of ["/chat", "/assets/main-Ab3_d-9x.js", "/__openclaw/control-ui-config.json"])
    expect([path, (await gateway.ask(path)).status]).toEqual([path, 404]);
  expect((await gateway.ask("/__openclaw/login", { method: "POST", body: "{}" })).status).toBe(404);
});

test("plugins come before the page, but not before its login", async () => {
  const open = {
    plugin: "x",
    match: "prefix",
    methods: ["GET"],
    auth: "public",
    maxBodyBytes: 0,
    handle: ({ response }) => void response.end("plugin"),
  } as const satisfies Omit<NonNullable<SurfaceOptions["pluginRoutes"]>[number], "path">;
  const handle: NonNullable<SurfaceOptions["unrouted"]>["handle"] = async (_request, response, path) => path === "/loose" && (response.end("loose"), true);
  await using gateway = await start({}, { pluginRoutes: [{ ...open, path: "/mine" }], unrouted: { needsToken: () => false, handle } });
  expect([(await gateway.ask("/mine/x")).body, (await gateway.ask("/loose")).body, (await gateway.ask("/other")).body.includes("the page")]).toEqual([
    "plugin",
    "loose",
    true,
  ]);
  for (const path of ["/__openclaw", "/__openclaw/login", "/"])
    expect(() => gateway.surface.registerRoute({ ...open, path })).toThrow(expect.objectContaining({ code: "CONFLICT" }));
});

test("a base path that is none refuses the start", async () => {
  await expect(start({ basePath: "/a/../b" })).rejects.toThrow('gateway.controlUi.basePath: "/a/../b"');
});
