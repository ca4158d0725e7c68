/** Cameras, screens, positions and files of a node, as agents and operators use them: a real node host, with ffmpeg's test pictures for cameras. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { ModelRequest } from "../conformance/channels/lab-model.ts";
import { makePlace } from "../harness/gateway-process.ts";
import { needProgram } from "../harness/packages.ts";
import { runCommand } from "../harness/program.ts";
import { startHost, type HostProcess } from "./host-process.ts";

const LONG = { timeout: 120_000 };
const lavfi = (source: string): string[] => ["-f", "lavfi", "-i", source];
const SECRET = "the-content-is-not-for-models";

let gateway: LabGateway;
let host: HostProcess;
let shared: string;
beforeAll(async () => {
  const allowCommands = ["camera.list", "camera.snap", "camera.clip", "screen.record", "location.get", "file.read", "file.write"];
  gateway = await startLabGateway();
  const { gateway: own } = gateway.sections as { gateway: object };
  gateway.configure({ gateway: { ...own, nodes: { allowCommands } }, tools: { exec: { security: "full", ask: "off" } } });
  await gateway.stop();
  await gateway.start();
  const place = makePlace();
  shared = join(place.home, "shared");
  mkdirSync(shared);
  const nodeHost = {
    camera: { enabled: true, sources: [{ name: "door", input: lavfi("testsrc=size=640x480:rate=10") }] },
    screen: { enabled: true, input: lavfi("testsrc=size=640x480:rate=10") },
    location: { enabled: true, command: ["echo", '{"latitude": 52.5, "longitude": 13.4, "accuracy": 20}'] },
    files: { folders: [shared], write: true },
  };
  place.configure(JSON.stringify({ nodeHost, tools: { exec: { security: "full", ask: "off" } } }));
  host = startHost(gateway.url, { place, name: "Shed", token: gateway.token, rules: { defaults: { security: "full", ask: "off" } } });
  await host.waitFor("connected to");
});
afterAll(async () => {
  await host?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach((context) => needProgram(context, "ffmpeg"), 180_000);

const lastResult = ({ body }: ModelRequest): string | undefined => {
  const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
  const result = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1).find(({ role }) => role === "tool");
  return result && (typeof result.content === "string" ? result.content : JSON.stringify(result.content));
};

let count = 0;
/** The model calls the tool once; gives the request with its result. */
async function call(args: object): Promise<{ readonly text: string; readonly body: string }> {
  const key = `call-${(count += 1)}`;
  const seen = gateway.model.requests.length;
  gateway.model.answers((request) => (lastResult(request) === undefined ? { text: "", calls: [{ name: "nodes", args: { node: "Shed", ...args } }] } : "done"));
  await gateway.operator.ask("chat.send", { sessionKey: `agent:main:${key}`, message: key, idempotencyKey: key });
  await gateway.operator.request("agent.wait", { runId: key, timeoutMs: 60_000 });
  const request = gateway.model.requests.slice(seen).findLast((one) => lastResult(one) !== undefined)!;
  return { text: lastResult(request)!, body: request.body };
}

test("the agent sees a picture of the node's camera, though the machine has only one side", LONG, async () => {
  const { text, body } = await call({ action: "camera_snap", maxWidth: 320 });
  expect(text).toContain("Picture 320×240");
  expect(body.match(/data:image\/jpeg;base64,\/9j\//g)).toHaveLength(1);
  expect((await call({ action: "camera_snap", facing: "back" })).text).toContain("there is no back camera here");
});

test("recordings are written to the workspace, or where the agent says", LONG, async () => {
  const { text } = await call({ action: "camera_clip", durationMs: 400 });
  const { path, bytes } = JSON.parse(text) as { path: string; bytes: number };
  expect(path).toMatch(/^\.openclaw\/nodes\/camera-clip-\d+\.mp4$/);
  expect(statSync(join(gateway.workspace, path)).size).toBe(bytes);
  await call({ action: "screen_record", durationMs: 400, outPath: "films/screen.mp4" });
  expect(readFileSync(join(gateway.workspace, "films/screen.mp4")).subarray(4, 8).toString()).toBe("ftyp");
  expect((await call({ action: "screen_record", durationMs: 400, outPath: gateway.place.configPath })).text).toContain("sealed");
});

test("cameras and positions are listed as the node's own text", LONG, async () => {
  expect((await call({ action: "camera_list" })).text).toMatch(/EXTERNAL_UNTRUSTED_CONTENT[^]*"id": ?"door"/);
  expect((await call({ action: "location_get", desiredAccuracy: "precise" })).text).toMatch(/EXTERNAL_UNTRUSTED_CONTENT[^]*"lat": ?52\.5/);
});

test("files go from the workspace to the node and back, and the model never sees what is in them", LONG, async () => {
  const content = `${SECRET}\n${"x".repeat(2_000_000)}`;
  writeFileSync(join(gateway.workspace, "report.txt"), content);
  const put = await call({ action: "file_put", file: "report.txt", path: "in/report.txt" });
  expect(readFileSync(join(shared, "in/report.txt"), "utf8")).toBe(content);
  const got = await call({ action: "file_get", path: "in/report.txt", outPath: "back.txt" });
  expect(readFileSync(join(gateway.workspace, "back.txt"), "utf8")).toBe(content);
  for (const { body } of [put, got]) expect(body.includes(SECRET) || body.includes(Buffer.from(SECRET).toString("base64").slice(0, 20))).toBe(false);
  expect(JSON.parse(got.text)).toMatchObject({ ok: true, path: "back.txt", bytes: content.length });
});

test("a file that the agent may not read is not sent, and one that it may not write is not fetched", LONG, async () => {
  const config = gateway.place.configPath;
  writeFileSync(join(shared, "other.json"), "{}");
  expect((await call({ action: "file_put", file: config, path: "stolen.json" })).text).toContain("sealed");
  expect(existsSync(join(shared, "stolen.json"))).toBe(false);
  const before = readFileSync(config, "utf8");
  expect((await call({ action: "file_get", path: "other.json", outPath: config })).text).toContain("sealed");
  expect(readFileSync(config, "utf8")).toBe(before);
  expect((await call({ action: "file_get", path: "/etc/hostname" })).text).toContain("outside of the folders that this node offers");
});

test("the command line saves pictures and recordings and prints the position", LONG, async () => {
  const line = async (...args: string[]) => {
    const { code, output } = await gateway.cli("nodes", ...args, "--node", "Shed");
    expect([args, code, output]).toEqual([args, 0, output]);
    return output.trim();
  };
  const pictures = (await line("camera", "snap", "--max-width", "160")).split("\n").filter((text) => text.startsWith("/"));
  expect(pictures.map((path) => [readFileSync(path).subarray(0, 2).toString("hex"), statSync(path).mode & 0o777])).toEqual([["ffd8", 0o600]]);
  const clip = await line("camera", "clip", "--duration", "300", "--no-audio");
  expect(readFileSync(clip).subarray(4, 8).toString()).toBe("ftyp");
  const out = join(gateway.place.home, "screen.mp4");
  expect(await line("screen", "record", "--duration", "300", "--fps", "5", "--out", out)).toBe(out);
  expect(readFileSync(out).subarray(4, 8).toString()).toBe("ftyp");
  expect(JSON.parse(await line("location", "get"))).toMatchObject({ lat: 52.5, lon: 13.4, accuracyMeters: 20, isPrecise: true });
  expect(JSON.parse(await line("camera", "list"))).toEqual({ devices: [{ id: "door", name: "door", position: "front", deviceType: "configured" }] });
});

test("node status says what is offered, and why the rest is not; the gateway shows what is missing", LONG, async () => {
  expect(runCommand(host.place, ["node", "status"]).stdout).toMatch(/Camera +door\nScreen +ffmpeg, with nodeHost\.screen\.input\nLocation +echo\n/);
  const bare = makePlace();
  bare.configure(JSON.stringify({ nodeHost: { screen: { enabled: true } } }));
  const { stdout } = runCommand(bare, ["node", "status"], { env: { DISPLAY: "", WAYLAND_DISPLAY: "" } });
  expect(stdout).toMatch(/Camera +off; turn it on with nodeHost\.camera\.enabled\nScreen +not available here: the node runs without a display/);
  await using other = startHost(gateway.url, { place: bare, name: "Bare", token: gateway.token, env: { DISPLAY: "", WAYLAND_DISPLAY: "" } });
  await other.waitFor("connected to");
  expect((await gateway.cli("nodes", "describe", "--node", "Bare")).output).toContain('Not available camera, screen, location (the command "node status"');
});

test("nodes describe says since when a node is offline", LONG, async () => {
  const place = makePlace();
  const away = startHost(gateway.url, { place, name: "Away", token: gateway.token });
  await away.waitFor("connected to");
  const from = Date.now();
  await away.kill();
  await expect.poll(async () => (await gateway.cli("nodes", "describe", "--node", "Away")).output, { timeout: 60_000 }).toContain("offline since");
  const since = /offline since (\S+)/.exec((await gateway.cli("nodes", "describe", "--node", "Away")).output)![1]!;
  expect(Date.parse(since)).toBeGreaterThanOrEqual(from);
});

test("a session that used a node is notified with its next message when the node stays away", LONG, async () => {
  const gone = startHost(gateway.url, { place: makePlace(), name: "Gone", token: gateway.token });
  await gone.waitFor("connected to");
  await call({ action: "invoke", node: "Gone", invokeCommand: "system.which", invokeParamsJson: '{"bins":["sh"]}' });
  const sessionKey = `agent:main:call-${count}`;
  await gone.kill();
  await expect.poll(async () => (await gateway.cli("nodes", "describe", "--node", "Gone")).output, { timeout: 60_000 }).toContain("offline since");
  await gateway.skip(61_000);
  gateway.model.answers(() => "noted");
  let asked = 0;
  // The line is on disk a moment after its time.
  await expect
    .poll(
      async () => {
        const idempotencyKey = `after-${(asked += 1)}`;
        await gateway.operator.ask("chat.send", { sessionKey, message: "Anything new?", idempotencyKey });
        await gateway.operator.request("agent.wait", { runId: idempotencyKey, timeoutMs: 60_000 });
        return gateway.model.requests.at(-1)!.body;
      },
      { timeout: 60_000 },
    )
    .toContain("Node offline (node=");
});
