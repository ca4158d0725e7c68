import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { createStranger } from "../harness/stranger.ts";

const TOKEN = "a-token-of-this-test-0123456789";

/** Functions of the SDK that have no API object to go by. */
const CODE = `
import { approveDevicePairing, emitDiagnosticEvent, listDevicePairing, onDiagnosticEvent, recordInboundSession, registerLogTransport, rejectDevicePairing } from "openclaw/plugin-sdk";

export default function register(api: { [member: string]: any }) {
  const lines: any[] = [];
  const events: any[] = [];
  const method = (name: string, answer: (params: any) => unknown) =>
    api.registerGatewayMethod("sdk." + name, async ({ params, respond }: any) => respond(true, (await answer(params)) ?? null));
  api.registerService({
    id: "listens",
    start() {
      registerLogTransport((line) => { lines.push(line); api.logger.info("seen by a transport"); });
      onDiagnosticEvent((event) => events.push(event));
    },
  });
  method("log", () => { api.logger.warn("a line for transports", { answer: 42 }); return lines.filter((line) => String(Object.values(line)).includes("a line for")); });
  method("events", () => { emitDiagnosticEvent({ type: "webhook.received", channel: "x" } as never); return events.length; });
  method("pairing", () => listDevicePairing());
  method("approve", ({ id }) => approveDevicePairing(id));
  method("reject", ({ id }) => rejectDevicePairing(id));
  method("record", async () => {
    const failures: string[] = [];
    await recordInboundSession({ storePath: "", sessionKey: "irc:group:#ops", ctx: { Provider: "irc", ChatType: "group", GroupSubject: "Ops" } as never, onRecordError: (error) => failures.push(String(error)) });
    return failures;
  });
}`;

function install(place: Place): void {
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" } }, plugins: { allow: ["sdk"] } }`);
  const folder = join(place.stateDir, "extensions", "sdk");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), `{ "id": "sdk", "configSchema": {} }`);
  writeFileSync(join(folder, "index.ts"), CODE);
}

function call(place: Place, method: string, params: object = {}): unknown {
  const { code, stdout, stderr } = place.cli("call", method, "--params", JSON.stringify(params), "--json");
  if (code !== 0) throw new Error(stderr + stdout);
  return JSON.parse(stdout);
}

test("a log transport gets the lines of the log, not what it logs itself, and ends with its plugin; so do listeners of diagnostic events", async () => {
  const place = makePlace();
  install(place);
  await using gateway = await place.gateway();
  expect(call(place, "sdk.log")).toEqual([
    {
      0: '{"subsystem":"plugins"}',
      1: { answer: 42 },
      2: "[sdk] a line for transports",
      _meta: { logLevelName: "WARN", name: "plugins", date: expect.any(String) },
    },
  ]);
  await gateway.waitFor("seen by a transport");
  expect([call(place, "sdk.events"), call(place, "sdk.events")]).toEqual([1, 2]);
  // The new generation has its own lists: whatever the old one still got would be logged twice.
  expect(place.cli("plugins", "reload", "sdk").code).toBe(0);
  expect(call(place, "sdk.log")).toHaveLength(1);
  expect(call(place, "sdk.events")).toBe(1);
  const { plugins } = call(place, "plugins.list") as { plugins: { status: string; generation: number }[] };
  expect(plugins).toMatchObject([{ status: "loaded", generation: 2 }]);
});

test("a plugin sees who waits for pairing, lets one in and turns one away; nobody's id is null", async () => {
  const place = makePlace();
  install(place);
  await using gateway = await place.gateway();
  const [friend, foe] = [createStranger(gateway.url!, TOKEN), createStranger(gateway.url!, TOKEN)];
  const [wanted, unwanted] = [await friend.ask(), await foe.ask()];
  const listed = call(place, "sdk.pairing") as { pending: { requestId: string; displayName: string }[]; paired: { deviceId: string }[] };
  expect(listed.pending).toMatchObject([
    { requestId: wanted, displayName: "far away", deviceId: friend.deviceId },
    { requestId: unwanted, deviceId: foe.deviceId },
  ]);
  expect(call(place, "sdk.approve", { id: wanted })).toMatchObject({ requestId: wanted, device: { deviceId: friend.deviceId, displayName: "far away" } });
  expect(call(place, "sdk.reject", { id: unwanted })).toEqual({ requestId: unwanted, deviceId: foe.deviceId });
  expect([call(place, "sdk.approve", { id: wanted }), call(place, "sdk.reject", { id: "nobody" })]).toEqual([null, null]);
  const client = await friend.connect();
  client.close();
  await expect(foe.connect()).rejects.toThrow("pairing required");
  expect(JSON.stringify(call(place, "sdk.pairing"))).not.toContain("token");
});

test("an inbound session that a channel records is in the session list", async () => {
  const place = makePlace();
  install(place);
  await using _ = await place.gateway();
  expect(call(place, "sdk.record")).toEqual([]);
  const { sessions } = call(place, "sessions.list") as { sessions: { key: string; subject?: string }[] };
  expect(sessions).toMatchObject([{ key: "agent:main:irc:group:#ops", subject: "Ops" }]);
});
