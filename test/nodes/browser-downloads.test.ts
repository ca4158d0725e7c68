/** What the browser of a node downloads: files that come over to the gateway, and files that are too large for that. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserPath, refIn } from "../browser/lab.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { CANARIES, startHijackedGateway, type HijackedGateway } from "../harness/hijacked-gateway.ts";
import { startHost, type HostProcess } from "./host-process.ts";

const LARGE = 11 * 1024 * 1024;
const FILES: Readonly<Record<string, Buffer>> = {
  "report.csv": Buffer.from("a,b\n1,2\n"),
  "..%2F..%2Fevil.csv": Buffer.from("x\n"),
  "film.bin": Buffer.alloc(LARGE, 7),
};
const PAGE = `<!doctype html><title>Files</title>${Object.keys(FILES)
  .map((name) => `<a href="/files/${encodeURIComponent(name)}">Get ${decodeURIComponent(name)}</a><br>`)
  .join("")}`;

const site = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url ?? "", "http://site/").pathname.replace(/^\/files\//, ""));
  const file = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (file) response.writeHead(200, { "content-disposition": `attachment; filename*=UTF-8''${name}`, "content-type": "application/octet-stream" }).end(file);
  else response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
});

let at: HijackedGateway;
let host: HostProcess;
beforeAll(async () => {
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  at = await startHijackedGateway();
  const place = makePlace();
  const ssrfPolicy = { allowPrivateNetwork: true };
  place.configure(JSON.stringify({ browser: { executablePath: browserPath(), headless: true, noSandbox: true, ssrfPolicy } }));
  host = startHost(at.gateway.url!, { place, name: "Shed", token: CANARIES.token });
  await host.waitFor("connected to");
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  await at?.[Symbol.asyncDispose]();
  site.closeAllConnections();
  site.close();
});

const stored = (): readonly string[] => (existsSync(folder(at.place.stateDir)) ? readdirSync(folder(at.place.stateDir)) : []);
const folder = (state: string): string => join(state, "media", "browser");
const browser = (args: object): Promise<string> => at.works("free", { name: "browser", args: { target: "node", ...args } });
const open = (): Promise<string> => browser({ action: "open", targetUrl: `http://127.0.0.1:${(site.address() as AddressInfo).port}/` });
/** The answer that reports the download: that to the click, or on a busy machine a later one. */
async function get(name: string): Promise<string> {
  let text = await browser({ action: "act", request: { kind: "click", ref: refIn(await open(), `Get ${name}`) } });
  const looked = async (): Promise<string> => (text.includes("event: downloaded") ? text : (text = await browser({ action: "snapshot" })));
  await expect.poll(looked).toContain("event: downloaded");
  return text;
}

test("a download of a node's browser is stored on the gateway like its own, and the agent gets that path", async () => {
  const text = await get("report.csv");
  const path = /downloaded "report\.csv" \(8 B\) to (\S+\.csv)/.exec(text)?.[1] ?? text;
  expect(path.startsWith(folder(at.place.stateDir))).toBe(true);
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["a,b\n1,2\n", 0o600]);
  expect(text).not.toContain(host.place.stateDir);
  expect(await browser({ action: "snapshot" })).not.toContain("downloaded");
});

test("the name that a site gives a file chooses no folder on the gateway", async () => {
  const before = stored().length;
  const text = await get("../../evil.csv");
  expect(text).toMatch(/downloaded "[^"]*evil\.csv" \(2 B\) to \S+/);
  expect(stored().length).toBe(before + 1);
  expect(readdirSync(join(at.place.stateDir, "media"))).not.toContain("evil.csv");
});

test("one that is too large stays on the node, and the agent reads where and why", async () => {
  const before = stored();
  const text = await get("film.bin");
  expect(text).toMatch(
    /downloaded "film\.bin" \(11 MB\) on the node, where it stays: a node sends up to 10 MB of downloads with one answer\. It is \S+film---\S+ there/,
  );
  expect(stored()).toEqual(before);
  const [there] = readdirSync(folder(host.place.stateDir)).filter((name) => name.startsWith("film"));
  expect(statSync(join(folder(host.place.stateDir), there!)).size).toBe(LARGE);
});

test("the command line of the gateway gets the path of the copy, too", async () => {
  const opened = await open();
  const tab = /tab (t\d+)/.exec(opened)?.[1];
  const params = { targetId: tab, ref: refIn(opened, "Get report.csv") };
  const { payload, error } = await at.owner.request("browser.request", { method: "POST", path: "/download", body: params, idempotencyKey: "download" });
  expect(error).toBeUndefined();
  const { events, downloads } = payload as { events: string[]; downloads: { path: string; bytes: number }[] };
  expect(downloads).toMatchObject([{ name: "report.csv", bytes: 8, path: expect.stringContaining(folder(at.place.stateDir)) }]);
  expect(events).toEqual([`downloaded "report.csv" (8 B) to ${downloads[0]!.path}`]);
});
