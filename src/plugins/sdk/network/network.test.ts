import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadHttp } from "../../../base/builtin.ts";
import * as files from "../values/files.ts";
import { fetchWithSsrFGuard } from "./guarded-fetch.ts";
import { bindSdkHost } from "../host-binding.ts";
import * as mime from "../../../media/index.ts";
import * as body from "./request-body.ts";
import { isBlockedHostname, isBlockedHostnameOrIp, isPrivateIpAddress, SsrFBlockedError } from "./ssrf.ts";
import { loadWebMedia } from "../media/web-media.ts";
import * as webhooks from "./webhooks.ts";

let server: Server;
let base: string;
let handle: (req: IncomingMessage, res: ServerResponse) => unknown;
let folder: string;

beforeEach(async () => {
  handle = (_req, res) => res.end("ok");
  server = loadHttp().createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), "sdk-"));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

describe("hosts", () => {
  it.each(
    "127.0.0.1 10.1.2.3 172.31.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 ::1 [::1] fe80::1%eth0 fd00::1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: 2001:0:0:0:0:0:80ff:fffe 127.1 0x7f000001 2130706433 not:an:address".split(
      " ",
    ),
  )("%s is private", (address) => {
    expect(isPrivateIpAddress(address)).toBe(true);
  });

  it.each(["8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "example.com", ""])("%s is not", (address) => {
    expect(isPrivateIpAddress(address)).toBe(false);
  });

  it("of this machine and network are blocked by name", () => {
    expect(["localhost", "LOCALHOST.", "x.localhost", "printer.local", "metadata.google.internal"].every(isBlockedHostname)).toBe(true);
    expect(["localhost.com", "internal.example.com"].some(isBlockedHostnameOrIp)).toBe(false);
  });
});

describe("the guarded fetch", () => {
  const allow = { policy: { allowPrivateNetwork: true } };
  const lookup = (address: string) => (async () => [{ address, family: 4 }]) as never;

  it("refuses private hosts, names that lead to them, and other protocols", async () => {
    await expect(fetchWithSsrFGuard({ url: base })).rejects.toThrow(SsrFBlockedError);
    await expect(fetchWithSsrFGuard({ url: "http://public.example/", lookupFn: lookup("10.0.0.1") })).rejects.toThrow(/private address 10\.0\.0\.1/);
    await expect(fetchWithSsrFGuard({ url: "file:///etc/passwd" })).rejects.toThrow(SsrFBlockedError);
    await expect(
      fetchWithSsrFGuard({ url: "http://a.example/", policy: { hostnameAllowlist: ["*.other.example"] }, lookupFn: lookup("8.8.8.8") }),
    ).rejects.toThrow(/not on the list/);
  });

  it("connects to the address that was checked, whatever the name says later", async () => {
    const port = new URL(base).port;
    handle = (req, res) => res.end(req.headers.host);
    const { response, release } = await fetchWithSsrFGuard({ url: `http://pinned.example:${port}/`, lookupFn: lookup("127.0.0.1"), ...allow });
    expect(await response.text()).toBe(`pinned.example:${port}`);
    await release();
  });

  it("follows redirects, checks each, and keeps credentials at home", async () => {
    const seen: unknown[] = [];
    handle = (req, res) => {
      seen.push([req.method, req.url, req.headers.authorization]);
      if (req.url === "/a") res.writeHead(302, { location: "/b" }).end();
      else if (req.url === "/b") res.writeHead(307, { location: `http://other.example:${new URL(base).port}/c` }).end();
      else res.end("there");
    };
    const init = { method: "POST", body: "x", headers: { authorization: "Bearer t" } };
    const { response, finalUrl, release } = await fetchWithSsrFGuard({ url: `${base}/a`, init, lookupFn: lookup("127.0.0.1"), ...allow });
    expect([await response.text(), new URL(finalUrl).pathname]).toEqual(["there", "/c"]);
    await release();
    expect(seen).toEqual([
      ["POST", "/a", "Bearer t"],
      ["GET", "/b", "Bearer t"],
      ["GET", "/c", undefined],
    ]);
    handle = (req, res) => res.writeHead(302, { location: `${req.url}x` }).end();
    await expect(fetchWithSsrFGuard({ url: base, ...allow })).rejects.toThrow(/more than 3 times/);
    handle = (_req, res) => res.writeHead(302, { location: "/again" }).end();
    await expect(fetchWithSsrFGuard({ url: base, ...allow })).rejects.toThrow(/redirects in a circle/);
  });

  it("stops a redirect to a private host that the policy does not name", async () => {
    handle = (_req, res) => res.writeHead(302, { location: "http://10.0.0.1/" }).end();
    await expect(fetchWithSsrFGuard({ url: base, policy: { allowedHostnames: ["127.0.0.1"] } })).rejects.toThrow(/10\.0\.0\.1/);
  });

  it("gives up in time", async () => {
    handle = () => {};
    await expect(fetchWithSsrFGuard({ url: base, timeoutMs: 30, ...allow })).rejects.toThrow(/timeout|abort/i);
  });
});

describe("bodies of requests", () => {
  const post = (text: string, init: RequestInit = {}) => fetch(base, { method: "POST", body: text, ...init });

  it("are read up to a limit", async () => {
    handle = async (req, res) => {
      try {
        res.end(await body.readRequestBodyWithLimit(req, { maxBytes: 5 }));
      } catch (error) {
        res.statusCode = body.isRequestBodyLimitError(error, "PAYLOAD_TOO_LARGE") ? error.statusCode : 500;
        res.end(body.requestBodyErrorToText("PAYLOAD_TOO_LARGE"));
      }
    };
    expect(await (await post("12345")).text()).toBe("12345");
    const refused = await post("123456");
    expect([refused.status, await refused.text()]).toEqual([413, "Payload too large"]);
  });

  it("as JSON are an answer either way", async () => {
    const results: body.ReadJsonBodyResult[] = [];
    handle = async (req, res) => {
      results.push(await body.readJsonBodyWithLimit(req, { maxBytes: 100, emptyObjectOnEmpty: req.url !== "/strict" }));
      res.end();
    };
    await post('{"a":1}');
    await post("{");
    await post("");
    await fetch(`${base}/strict`, { method: "POST" });
    expect(results).toMatchObject([
      { ok: true, value: { a: 1 } },
      { ok: false, code: "INVALID_JSON" },
      { ok: true, value: {} },
      { ok: false, code: "INVALID_JSON" },
    ]);
  });

  it("that never come are given up", async () => {
    const done = new Promise<body.ReadJsonBodyResult>((resolve) => {
      handle = async (req, res) => {
        resolve(await body.readJsonBodyWithLimit(req, { maxBytes: 100, timeoutMs: 20 }));
        res.end();
      };
    });
    const stopped = new AbortController();
    const stream = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
    const asked = fetch(base, { method: "POST", body: stream, duplex: "half", signal: stopped.signal }).catch(() => undefined);
    expect(await done).toMatchObject({ ok: false, code: "REQUEST_BODY_TIMEOUT" });
    stopped.abort();
    await asked;
  });

  it("that other code reads are watched", async () => {
    const codes: unknown[] = [];
    handle = (req, res) => {
      const guard = body.installRequestBodyLimitGuard(req, res, { maxBytes: 3, responseFormat: "json" });
      codes.push(guard.code());
    };
    const refused = await post("1234");
    expect([refused.status, await refused.json(), codes]).toEqual([413, { error: "Payload too large" }, ["PAYLOAD_TOO_LARGE"]]);
  });
});

describe("webhooks", () => {
  it.each([
    ["hook", "/hook"],
    ["/hook/", "/hook"],
    ["", "/"],
    ["/", "/"],
  ])("%j is %j", (raw, path) => {
    expect(webhooks.normalizeWebhookPath(raw)).toBe(path);
  });

  it("have a path of their own, of their URL, or a default", () => {
    expect(webhooks.resolveWebhookPath({ webhookPath: " a/ ", webhookUrl: "https://x/y" })).toBe("/a");
    expect(webhooks.resolveWebhookPath({ webhookUrl: "https://x/y/" })).toBe("/y");
    expect([
      webhooks.resolveWebhookPath({ webhookUrl: "no url" }),
      webhooks.resolveWebhookPath({ defaultPath: "/d" }),
      webhooks.resolveWebhookPath({}),
    ]).toEqual([null, "/d", null]);
  });

  it("are found by path until they are taken away", () => {
    const map = new Map<string, { path: string; id: number }[]>();
    const first = webhooks.registerWebhookTarget(map, { path: "a/", id: 1 });
    const second = webhooks.registerWebhookTarget(map, { path: "/a", id: 2 });
    expect(webhooks.resolveWebhookTargets({ url: "/a/?x=1" }, map)?.targets.map(({ id }) => id)).toEqual([1, 2]);
    first.unregister();
    second.unregister();
    expect([webhooks.resolveWebhookTargets({ url: "/a" }, map), map.size]).toEqual([null, 0]);
    expect(webhooks.resolveWebhookTargets({ url: "//" }, map)).toBeNull();
  });

  it("take POST only", async () => {
    handle = (req, res) => webhooks.rejectNonPostWebhookRequest(req, res) || res.end("taken");
    const refused = await fetch(base);
    expect([refused.status, refused.headers.get("allow"), await (await fetch(base, { method: "POST" })).text()]).toEqual([405, "POST", "taken"]);
  });

  it("that cannot be added are a line in the log", () => {
    const lines: string[] = [];
    const off = webhooks.registerPluginHttpRoute({ path: "/x", handler: () => {}, pluginId: "p", log: (line) => lines.push(line) });
    off();
    expect(lines).toEqual([expect.stringMatching(/^p: the HTTP route \/x was not added/)]);
    const routes: unknown[] = [];
    using _bound = bindSdkHost({ env: {}, stateDir: folder, registerHttpRoute: ({ path }) => (routes.push(path), () => routes.push("off")) });
    webhooks.registerPluginHttpRoute({ fallbackPath: "y", handler: () => {} })();
    expect(routes).toEqual(["/y", "off"]);
  });
});

describe("files", () => {
  const options = { retries: { retries: 2, factor: 1, minTimeout: 1, maxTimeout: 1 }, stale: 60_000 };

  it("are locked for one at a time", async () => {
    const file = join(folder, "deep", "state.json");
    await files.withFileLock(file, options, async () => {
      await expect(files.acquireFileLock(file, options)).rejects.toThrow(/locked by another process/);
    });
    const lock = await files.acquireFileLock(file, options);
    await lock.release();
  });

  it("are taken over from a process that is gone", async () => {
    const file = join(folder, "a");
    await writeFile(`${file}.lock`, JSON.stringify({ pid: 2 ** 22 + 1 }));
    await expect(files.withFileLock(file, options, async () => "mine")).resolves.toBe("mine");
  });

  it("of JSON are read or replaced by a fallback, and written for the owner alone", async () => {
    const file = join(folder, "sub", "a.json");
    expect(await files.readJsonFileWithFallback(file, 1)).toEqual({ value: 1, exists: false });
    await files.writeJsonFileAtomically(file, { a: 1 });
    expect(await files.readJsonFileWithFallback(file, null)).toEqual({ value: { a: 1 }, exists: true });
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe("600");
    await writeFile(file, "{");
    expect(await files.readJsonFileWithFallback(file, 2)).toEqual({ value: 2, exists: true });
  });

  it("for a while have a folder of their own, whatever they are called", async () => {
    const seen = await files.withTempDownloadPath({ prefix: "../x", fileName: "../../evil.sh", tmpDir: folder }, async (path) => {
      await writeFile(path, "x");
      expect(path.startsWith(folder)).toBe(true);
      return path;
    });
    await expect(readFile(seen)).rejects.toThrow("ENOENT");
    expect(files.buildRandomTempFilePath({ prefix: "a/b", extension: "p.g", tmpDir: "/t", now: 5, uuid: "u" })).toBe(join("/t", "a-b-5-u"));
  });

  it("have types by their bytes, then their names", async () => {
    const png = Buffer.from("89504e470d0a1a0a0000", "hex");
    expect(await mime.detectMime({ buffer: png, filePath: "x.txt" })).toBe("image/png");
    expect(await mime.detectMime({ buffer: Buffer.from("504b0304", "hex"), filePath: "a.docx" })).toMatch(/wordprocessingml/);
    expect(await mime.detectMime({ headerMime: "Text/HTML; charset=x" })).toBe("text/html");
    expect([
      mime.extensionForMime("image/jpeg"),
      mime.getFileExtension("https://x/a.PNG?q=1"),
      mime.mediaKindFromMime("audio/ogg"),
      mime.mediaKindFromMime(),
    ]).toEqual([".jpg", ".png", "audio", "unknown"]);
    expect(mime.extractOriginalFilename("/m/my file---0123abcd-0123-0123-0123-0123456789ab.pdf")).toBe("my file.pdf");
  });

  it("that are media come from allowed folders only, and not through links", async () => {
    const file = join(folder, "a.txt");
    await writeFile(file, "hello");
    expect(await loadWebMedia(file, { localRoots: [folder] })).toMatchObject({ contentType: "text/plain", kind: "document", fileName: "a.txt" });
    await expect(loadWebMedia(file, { localRoots: [join(folder, "other")] })).rejects.toThrow(/outside the folders/);
    await expect(loadWebMedia(file)).rejects.toThrow(/outside the folders/);
    await symlink(process.execPath, join(folder, "link"));
    await expect(loadWebMedia(join(folder, "link"), { localRoots: [folder] })).rejects.toThrow(/outside the folders/);
    await expect(loadWebMedia(file, { localRoots: "any", maxBytes: 3 })).rejects.toThrow(/larger than/);
  });

  it("that are media come from the net within a limit", async () => {
    handle = (_req, res) => res.setHeader("content-disposition", 'attachment; filename="pic"').end(Buffer.from("89504e470d0a1a0a", "hex"));
    const policy = { ssrfPolicy: { allowPrivateNetwork: true } };
    expect(await loadWebMedia(base, policy)).toMatchObject({ contentType: "image/png", kind: "image", fileName: "pic.png" });
    await expect(loadWebMedia(base, { ...policy, maxBytes: 4 })).rejects.toThrow(/larger than the limit of 4 B/);
    await expect(loadWebMedia(base)).rejects.toThrow(SsrFBlockedError);
  });
});
