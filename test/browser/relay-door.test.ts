/** Who may connect to the port of the extension: the extension with the secret, and nobody else. */
import { request } from "node:http";
import { existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import { loadExtension } from "../../src/browser/index.ts";
import { openRelayServer, type RelayServer } from "../../src/browser/relay/relay-server.ts";
import { EXTENSION_ID, proofOf, relaySecret, secretFile } from "../../src/browser/relay/secret.ts";

const ORIGIN = `chrome-extension://${EXTENSION_ID}`;
const SECRET = "5".repeat(64);
const ids = createIds(systemRandom);

let server: RelayServer;
beforeAll(async () => {
  server = await openRelayServer({ clock: systemClock, ids, log: silentLogger, port: 0, secret: SECRET });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Asking {
  readonly origin?: string;
  readonly host?: string;
  readonly path?: string;
}

const open = ({ origin = ORIGIN, host, path = "/extension" }: Asking = {}): WebSocket =>
  new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers: { ...(origin === "" ? {} : { origin }), ...(host === undefined ? {} : { host }) } });

/** How an attempt to connect ends: with the answer's status, or open. */
const outcome = (asking: Asking): Promise<number | "open"> =>
  new Promise((resolve) => {
    const socket = open(asking);
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    socket.on("open", () => {
      socket.close();
      resolve("open");
    });
    socket.on("error", () => undefined);
  });

test.each<[string, Asking]>([
  ["a web page", { origin: "https://evil.test" }],
  ["a page of this machine", { origin: "http://127.0.0.1:18789" }],
  ["another extension", { origin: `chrome-extension://${"a".repeat(32)}` }],
  ["an origin that begins like the extension's", { origin: `${ORIGIN}.evil.test` }],
  ["a sandboxed frame", { origin: "null" }],
  ["a program without an origin", { origin: "" }],
  ["a name that was pointed at this machine", { host: "evil.test" }],
  ["a host with another port", { host: "127.0.0.1:1" }],
  ["another path", { path: "/cdp" }],
  ["a path with a query", { path: "/extension?x" }],
])("%s is refused before the handshake", async (_who, asking) => {
  expect(await outcome(asking)).toBe(403);
});

test("plain requests get nothing, whatever they ask for", async () => {
  for (const path of ["/", "/json/version", "/json/list", "/extension"]) {
    const status = await new Promise((resolve, reject) => {
      request({ host: "127.0.0.1", port: server.port, path, headers: { origin: ORIGIN } }, (response) => {
        response.resume();
        resolve([response.statusCode, response.headers["access-control-allow-origin"]]);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toEqual([403, undefined]);
  }
});

test("other interfaces of the machine do not lead to it", async () => {
  const [address] = Object.values(networkInterfaces()).flatMap((found) => (found ?? []).filter(({ internal, family }) => !internal && family === "IPv4"));
  if (!address) return;
  const reached = await new Promise((resolve) => {
    request({ host: address.address, port: server.port }, () => resolve(true))
      .on("error", () => resolve(false))
      .end();
  });
  expect(reached).toBe(false);
});

/** A client of the handshake; `answer` makes the proof. */
async function greet(
  answer: (challenge: { readonly nonce: string; readonly proof: string }, nonce: string) => string,
): Promise<{ code: number; heard: string[]; socket: WebSocket }> {
  const socket = open();
  const nonce = ids.hex(16);
  const heard: string[] = [];
  const code = await new Promise<number>((resolve, reject) => {
    socket.on("open", () => socket.send(JSON.stringify({ type: "hello", version: 1, nonce })));
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; nonce: string; proof: string };
      heard.push(message.type);
      if (message.type === "challenge") socket.send(JSON.stringify({ type: "proof", proof: answer(message, nonce), userAgent: "Chrome/150.0.0.0" }));
      if (message.type === "ready") resolve(0);
    });
    socket.on("close", resolve);
    socket.on("error", reject);
  });
  return { code, heard, socket };
}

test("a proof with another secret, of the other side, or of another port is worth nothing", async () => {
  const facts = (relayNonce: string, extensionNonce: string, port = server.port) => ({ port, relayNonce, extensionNonce });
  const wrong = [
    ({ nonce }: { nonce: string }, own: string) => proofOf("6".repeat(64), "extension", facts(nonce, own)),
    ({ proof }: { proof: string }) => proof,
    ({ nonce }: { nonce: string }, own: string) => proofOf(SECRET, "extension", facts(nonce, own, 1)),
    ({ nonce }: { nonce: string }) => proofOf(SECRET, "extension", facts(nonce, "0".repeat(32))),
    () => "",
  ];
  for (const answer of wrong) {
    expect(await greet(answer)).toMatchObject({ code: 1008, heard: ["challenge"] });
    expect(server.links.size).toBe(0);
  }
});

test("the relay proves itself first, and both proofs hold for one connection only", async () => {
  let replayed: { proof: string; nonce: string } | undefined;
  const first = await greet(({ nonce, proof }, own) => {
    expect(proof).toBe(proofOf(SECRET, "relay", { port: server.port, relayNonce: nonce, extensionNonce: own }));
    const mine = proofOf(SECRET, "extension", { port: server.port, relayNonce: nonce, extensionNonce: own });
    replayed = { proof: mine, nonce };
    return mine;
  });
  expect(first).toMatchObject({ code: 0, heard: ["challenge", "ready"] });
  expect(server.links.size).toBe(1);
  const again = await greet(({ nonce }) => {
    expect(nonce).not.toBe(replayed?.nonce);
    return replayed?.proof ?? "";
  });
  expect(again.code).toBe(1008);
  first.socket.close();
  await expect.poll(() => server.links.size).toBe(0);
});

test("commands before the handshake, and anything that is not JSON, end the connection", async () => {
  for (const text of ['{"type":"shared","tab":1}', '{"type":"proof","proof":"x"}', "{", "[]"]) {
    const socket = open();
    const code = await new Promise((resolve) => {
      socket.on("open", () => socket.send(text));
      socket.on("close", resolve);
    });
    expect(code).toBe(1008);
  }
  expect(server.links.size).toBe(0);
});

test("the extension is written for its user alone, with one secret that stays", async () => {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-extension-"));
  const { installExtension } = await loadExtension();
  const install = () => installExtension({ stateDir, ids, gatewayPort: 18789, config: {}, profile: "chrome" });
  const { path, port, secret } = install();
  expect(port).toBe(18792);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.parse(readFileSync(join(path, "connection.json"), "utf8"))).toEqual({ port, secret });
  expect(install().secret).toBe(secret);
  expect(relaySecret(stateDir, ids)).toBe(secret);
  const modes = [path, join(path, "connection.json"), secretFile(stateDir)].map((file) => statSync(file).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600, 0o600]);
  const manifest = JSON.parse(readFileSync(join(path, "manifest.json"), "utf8")) as { key: string; permissions: string[]; web_accessible_resources?: unknown };
  expect(manifest.permissions).toEqual(["debugger", "storage"]);
  expect(manifest.web_accessible_resources).toBeUndefined();
  const { createHash } = await import("node:crypto");
  const digits = createHash("sha256").update(Buffer.from(manifest.key, "base64")).digest("hex").slice(0, 32);
  expect(Array.from(digits, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join("")).toBe(EXTENSION_ID);
  for (const language of ["en", "de"]) expect(existsSync(join(path, "_locales", language, "messages.json"))).toBe(true);
});

test("the texts of the extension are complete in both languages", async () => {
  const { browserExtensionFolder } = await import("../../src/base/program-folders.ts");
  const folder = browserExtensionFolder() ?? "";
  const keys = (language: string): readonly string[] =>
    Object.keys(JSON.parse(readFileSync(join(folder, "_locales", language, "messages.json"), "utf8")) as object).sort();
  expect(keys("de")).toEqual(keys("en"));
  const code = ["background.js", "options.js", "options.html", "manifest.json"].map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  for (const key of keys("en")) expect(code).toMatch(new RegExp(`["_]${key}(?:__)?"`));
});
