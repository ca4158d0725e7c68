/** The canvas of nodes: the address they get, who may read there, live reload, and the command line. */
import { mkdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { HelloOk } from "../../src/protocol/index.ts";
import type { DeviceClient } from "../harness/device-client.ts";
import { ask, bearer, start, TOKEN, type Started } from "../security/start.ts";
import { connectNode, connectOperator, requests } from "./lab.ts";

/** Five programs start side by side. */
const PATIENCE = { timeout: 90_000 };
const COMMANDS = ["present", "hide", "navigate", "eval", "snapshot", "a2ui.push", "a2ui.pushJSONL", "a2ui.reset"].map((name) => `canvas.${name}`);

let gateway: Started;
let operator: DeviceClient;
const folder = (): string => join(gateway.place.stateDir, "canvas");
beforeAll(async () => {
  gateway = await start();
  operator = await connectOperator(gateway);
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), "index.html"), "<!doctype html><head><title>t</title></head><p>first</p>");
});
afterAll(async () => {
  await operator?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

const hostUrl = (client: DeviceClient): URL => new URL((client.answer.payload as unknown as HelloOk).canvasHostUrl!);
const screen = (displayName = "Tablet") => connectNode(gateway, { platform: "ios", displayName, commands: COMMANDS, caps: ["canvas"] });

test("a node's address needs no other secret, lasts as long as its connection, and an operator's has none in it", async () => {
  const node = await screen();
  const url = hostUrl(node);
  expect(url.pathname).toMatch(/^\/__openclaw__\/cap\/[0-9a-f]{48}$/);
  expect(hostUrl(operator).pathname).toBe("/");
  const token = url.pathname.split("/").at(-1)!;
  const at = `${url.pathname}/__openclaw__/canvas/`;
  const reply = await ask(gateway.url, at);
  expect([reply.status, reply.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(reply.body).toContain(
    `<head><script src="${url.pathname}/__openclaw__/a2ui/bridge.js" data-live="${url.pathname}/__openclaw__/ws"></script><title>t</title>`,
  );
  expect((await ask(gateway.url, `/__openclaw__/canvas/?oc_cap=${token}`)).status).toBe(200);
  expect((await ask(gateway.url, at.slice(0, -1))).headers["location"]).toBe(at);
  expect((await ask(gateway.url, `${url.pathname}/__openclaw__/a2ui/`)).body).toContain("a2ui.js");
  for (const path of ["canvas/", "a2ui/"]) expect((await ask(gateway.url, `/__openclaw__/${path}`)).status).toBe(401);
  expect((await ask(gateway.url, "/__openclaw__/canvas/", { headers: bearer(TOKEN) })).status).toBe(200);
  // A capability of the canvas opens nothing else.
  for (const path of [`${url.pathname}/v1/models`, `${url.pathname}/tools/invoke`, `/v1/models?oc_cap=${token}`])
    expect([path, [401, 404].includes((await ask(gateway.url, path)).status)]).toEqual([path, true]);
  await node[Symbol.asyncDispose]();
  await expect.poll(async () => (await ask(gateway.url, at)).status).toBe(401);
});

test("every answer is sandboxed, without cookies, and only what an address with a secret gives may be read by a page", async () => {
  await using node = await screen();
  const { pathname, host } = hostUrl(node);
  const { headers } = await ask(gateway.url, `${pathname}/__openclaw__/canvas/`, { headers: { host } });
  expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "access-control-allow-origin": "*" });
  const policy = String(headers["content-security-policy"]);
  for (const part of ["sandbox allow-scripts allow-forms;", "default-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'self'"])
    expect(policy).toContain(part);
  expect(policy).not.toMatch(/allow-same-origin|allow-top|allow-popups|\*/);
  expect(headers["set-cookie"]).toBeUndefined();
  const plain = await ask(gateway.url, "/__openclaw__/canvas/", { headers: bearer(TOKEN) });
  expect(plain.headers["access-control-allow-origin"]).toBeUndefined();
  expect(plain.headers["content-security-policy"]).toContain("sandbox");
});

test("a page that is open learns of changes; strangers and foreign hosts get no socket, and nothing is taken from one", async () => {
  await using node = await screen();
  const { pathname, host } = hostUrl(node);
  const open = (path: string, headers: Record<string, string> = {}) => new WebSocket(`ws://${host}${path}`, { headers });
  for (const [path, headers, status] of [
    ["/__openclaw__/ws", {}, 401],
    [`/__openclaw__/cap/${"0".repeat(48)}/__openclaw__/ws`, {}, 401],
    [`${pathname}/__openclaw__/ws`, { host: "attacker.example" }, 403],
  ] as const) {
    const [error] = (await once(open(path, headers), "error")) as [Error];
    expect([path, error.message]).toEqual([path, `Unexpected server response: ${status}`]);
  }
  // The document has no origin: its browser says so.
  const socket = open(`${pathname}/__openclaw__/ws`, { origin: "null" });
  await once(socket, "open");
  const heard = once(socket, "message") as Promise<[Buffer]>;
  let at = 0;
  const writing = setInterval(() => writeFileSync(join(folder(), "changed.txt"), String((at += 1))), 50);
  expect(String((await heard)[0])).toBe("reload");
  clearInterval(writing);
  const closed = once(socket, "close");
  socket.send("connect");
  expect((await closed)[0]).toBe(1003);
});

test(
  "the command line reaches the only node with a canvas, with the documented parameters, and says why a command is not allowed",
  { timeout: 120_000 },
  async () => {
    await using node = await screen("Easel");
    await using plain = await connectNode(gateway, { displayName: "Shed" });
    // Nodes of the tests before may still be leaving.
    const able = async (): Promise<number> => {
      const { nodes } = (await operator.ask("node.list", {})).payload as {
        nodes: readonly { readonly connected: boolean; readonly commands: readonly string[] }[];
      };
      return nodes.filter(({ connected, commands }) => connected && commands.includes("canvas.hide")).length;
    };
    await expect.poll(able).toBe(1);
    const serve = async (): Promise<void> => {
      let served = 0;
      await expect
        .poll(async () => {
          for (const { payload } of requests(node).slice(served)) {
            served += 1;
            const { id, command } = payload as { id: string; command: string };
            const result = command === "canvas.eval" ? { result: "42" } : { ok: true };
            await node.request("node.invoke.result", { id, nodeId: node.nodeId, ok: true, payloadJSON: JSON.stringify(result) });
          }
          return served;
        }, PATIENCE)
        .toBe(4);
    };
    const cli = (...args: string[]) => gateway.place.start("nodes", "canvas", ...args);
    const [presented, evaluated, pushed, hidden, refused] = await Promise.all([
      cli("present", "--target", "http://example.com/", "--x", "1", "--width", "300"),
      cli("eval", "6 * 7"),
      cli("a2ui", "push", "--text", "Hi"),
      cli("hide", "--node", "easel"),
      cli("hide", "--node", "Shed"),
      serve(),
    ]);
    expect([presented.stdout, evaluated.stdout, pushed.stdout, hidden.stdout]).toEqual(["Shown\n", "42\n", "Pushed\n", "Hidden\n"]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("node command not allowed: canvas.hide: command not allowlisted; add it to gateway.nodes.allowCommands"),
    });
    const sent = Object.fromEntries(requests(node).map(({ payload }) => [payload!["command"], JSON.parse(String(payload!["paramsJSON"]))]));
    expect(sent["canvas.present"]).toEqual({ url: "http://example.com/", placement: { x: 1, width: 300 } });
    expect(sent["canvas.eval"]).toEqual({ javaScript: "6 * 7" });
    expect(sent["canvas.a2ui.pushJSONL"].jsonl.split("\n")).toHaveLength(2);
    expect(requests(plain)).toHaveLength(0);
  },
);

test("what is shown is shown again after a restart, and more than a canvas holds is refused", async () => {
  const sessionKey = "agent:main:canvas-restart";
  const surface = {
    version: "v0.9",
    createSurface: { surfaceId: "s", components: [{ id: "root", component: "Text", text: { path: "/t" } }], dataModel: { t: "Hi" } },
  };
  const before = await start();
  const invoke = (client: DeviceClient, command: string, params = {}) =>
    client.ask("canvas.invoke", { sessionKey, command, params, idempotencyKey: crypto.randomUUID() });
  {
    await using page = await connectOperator(before);
    expect((await page.ask("canvas.attach", { sessionKey })).payload).toMatchObject({ view: { visible: false, messages: [] } });
    expect((await invoke(page, "canvas.a2ui.push", { jsonl: JSON.stringify(surface) })).ok).toBe(true);
    const large = Array.from({ length: 3 }, (_, at) => ({ version: "v0.9", createSurface: { surfaceId: `l${at}`, dataModel: { t: "x".repeat(900_000) } } }));
    for (const one of large.slice(0, 2)) expect((await invoke(page, "canvas.a2ui.push", { jsonl: JSON.stringify(one) })).ok).toBe(true);
    expect((await invoke(page, "canvas.a2ui.push", { jsonl: JSON.stringify(large[2]) })).error?.message).toMatch(
      /^expected at most 2000000 characters on one canvas/,
    );
    for (const surfaceId of ["l0", "l1"]) await invoke(page, "canvas.a2ui.push", { jsonl: JSON.stringify({ deleteSurface: { surfaceId } }) });
  }
  await before[Symbol.asyncDispose]();
  const process = await before.place.gateway();
  await using page = await connectOperator({ url: process.url! });
  try {
    const { view } = (await page.ask("canvas.attach", { sessionKey })).payload as { view: Record<string, unknown> };
    expect(view).toMatchObject({ visible: true, target: { kind: "a2ui" }, revision: 5 });
    expect(JSON.stringify(view["messages"])).toContain('"value":{"t":"Hi"}');
    expect((await invoke(page, "canvas.a2ui.reset")).ok).toBe(true);
  } finally {
    await process[Symbol.asyncDispose]();
  }
});

test("only the page that shows a canvas answers for it, once, and one that leaves ends what was asked of it", async () => {
  await using page = await connectOperator(gateway);
  const sessionKey = "agent:main:canvas-surface";
  const invoke = (command: string, params = {}) => operator.ask("canvas.invoke", { sessionKey, command, params, idempotencyKey: crypto.randomUUID() });
  expect((await invoke("canvas.present")).error?.message).toMatch(/^no page shows this conversation/);
  await page.ask("canvas.attach", { sessionKey });
  expect((await invoke("canvas.eval", { javaScript: "1" })).error?.message).toBe("the canvas is hidden; present it first");
  expect((await invoke("canvas.present", { url: "../openclaw.json" })).error?.message).toMatch(
    /shows files of the canvas folder and A2UI, not "\.\.\/openclaw\.json"/,
  );
  for (const url of ["a.html", ".hidden.html", "folder/", "/etc/passwd", "%2e%2e/openclaw.json", "%zz.html"])
    expect((await invoke("canvas.present", { url })).error?.message).toMatch(/^the canvas folder has no page /);
  writeFileSync(join(folder(), "a.html"), "<p>a</p>");
  writeFileSync(join(folder(), ".hidden.html"), "<p>hidden</p>");
  expect((await invoke("canvas.navigate", { url: ".hidden.html" })).error?.message).toMatch(/^the canvas folder has no page /);
  expect((await invoke("canvas.present", { url: "a.html" })).ok).toBe(true);
  const changed = await page.next(({ event }) => event === "canvas.changed");
  expect(changed.payload).toMatchObject({ visible: true, target: { kind: "file", path: "a.html" }, revision: 1 });
  const asked = invoke("canvas.eval", { javaScript: "1" });
  const { id } = (await page.next(({ event }) => event === "canvas.request")).payload as { id: string };
  expect((await operator.ask("canvas.result", { id, ok: true, payload: { result: "forged" } })).payload).toEqual({ ok: true, ignored: true });
  expect((await page.ask("canvas.result", { id, ok: true, payload: { result: "1" } })).payload).toEqual({ ok: true });
  expect((await page.ask("canvas.result", { id, ok: true, payload: { result: "2" } })).payload).toEqual({ ok: true, ignored: true });
  expect((await asked).payload).toEqual({ ok: true, payload: { result: "1" } });
  const open = invoke("canvas.snapshot");
  await page.next(({ event, payload }) => event === "canvas.request" && payload!["command"] === "snapshot");
  await page[Symbol.asyncDispose]();
  expect((await open).error?.message).toBe("the page that shows the canvas was closed; the outcome is unknown");
  expect((await operator.ask("canvas.invoke", { sessionKey, command: "system.run", idempotencyKey: "x" })).error?.message).toMatch(
    /^unknown command "system.run"; expected canvas.present/,
  );
});
