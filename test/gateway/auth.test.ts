import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ConnectParams } from "../../src/protocol/index.ts";
import { devicesHandlers } from "../../src/gateway/methods/devices.ts";
import { ALL_SCOPES, connectParams, createAuthBench, createDevice, TOKEN, type AuthBench, type TestDevice } from "../harness/auth.ts";
import { openClient, type Frame, type RawClient } from "../harness/gateway-client.ts";
import { startGateway, type Started } from "./start.ts";

let bench: AuthBench;
let started: Started;
beforeAll(async () => {
  bench = await createAuthBench();
  const { auth, clock, store } = bench;
  const handlers = (hub: Started["gateway"]["hub"]) => ({ ...devicesHandlers({ auth, broadcast: hub.broadcast }), "system-presence": () => [] });
  started = await startGateway({ clock, handlers, over: { auth, store } });
});
afterEach(() => bench.clear());
afterAll(async () => {
  await started[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

type Sent = Partial<ConnectParams> & { readonly role?: string };

/** Connects with a device that signs the nonce of its challenge. */
async function enter(
  device: TestDevice | undefined,
  sent: Sent = {},
  headers: Record<string, string> = {},
  spoil: (params: ConnectParams) => ConnectParams = (p) => p,
) {
  const client = await openClient(started.gateway.url, { headers });
  const nonce = String((await client.event("connect.challenge")).payload!["nonce"]);
  const params = connectParams({ auth: { token: TOKEN }, ...ALL_SCOPES, ...sent });
  const signed = device ? device.sign(params, { now: bench.clock.now(), nonce }) : params;
  const answer = await client.request("connect", spoil(signed));
  return { client, answer };
}

async function refusal(...args: Parameters<typeof enter>): Promise<{ code: string; message: string; details?: unknown }> {
  const { client, answer } = await enter(...args);
  expect(answer.ok).toBe(false);
  const { code, reason } = await client.closed;
  expect({ code, reason }).toEqual({ code: 1008, reason: Buffer.from(answer.error!.message).subarray(0, 120).toString() });
  return answer.error!;
}

const withDevice = (over: Partial<NonNullable<ConnectParams["device"]>>) => (params: ConnectParams) => ({ ...params, device: { ...params.device!, ...over } });
const ui = { client: { id: "openclaw-control-ui", mode: "webchat", version: "1", platform: "web" } } as const;
const proxied = { "x-forwarded-for": "203.0.113.9" };

test("check 6: a role that does not exist", async () => {
  expect(await refusal(createDevice(), { role: "king" })).toEqual({ code: "INVALID_REQUEST", message: "invalid role" });
});

test("check 7: a page of another origin", async () => {
  await expect(refusal(createDevice(), ui, { origin: "https://evil.example" })).rejects.toThrow("403");
  // A program that says it is a page has no origin.
  const { message } = await refusal(createDevice(), ui);
  expect(message).toBe("origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)");
});

test("check 8: the Control UI without a device", async () => {
  const { message } = await refusal(undefined, ui, { origin: started.gateway.url });
  expect(message).toBe("control ui requires HTTPS or localhost (secure context)");
});

test("check 9: no device and a wrong secret", async () => {
  expect((await refusal(undefined, { auth: { token: "wrong" } })).message).toBe(
    "unauthorized: gateway token mismatch (set gateway.remote.token to match gateway.auth.token)",
  );
});

test("check 11: a device whose id is not its key's", async () => {
  expect((await refusal(createDevice(), {}, {}, withDevice({ id: "0".repeat(64) }))).message).toBe("device identity mismatch");
});

test("check 12: a signature of yesterday", async () => {
  expect((await refusal(createDevice(), {}, {}, withDevice({ signedAt: bench.clock.now() - 600_001 }))).message).toBe("device signature expired");
});

test("check 13: no nonce from another machine", async () => {
  const without = ({ device, ...rest }: ConnectParams): ConnectParams => {
    const { nonce: _, ...kept } = device!;
    return { ...rest, device: kept };
  };
  expect((await refusal(createDevice(), {}, proxied, without)).message).toBe("device nonce required");
});

test("check 14: the nonce of another connection", async () => {
  expect((await refusal(createDevice(), {}, {}, withDevice({ nonce: "another" }))).message).toBe("device nonce mismatch");
});

test("check 15: a signature over something else", async () => {
  expect((await refusal(createDevice(), {}, {}, (params) => ({ ...params, scopes: ["operator.read"] }))).message).toBe("device signature invalid");
});

test("check 16: a device with a wrong secret", async () => {
  expect((await refusal(createDevice(), { auth: { token: "wrong" } })).message).toMatch(/^unauthorized: /);
});

test("check 17: a device from elsewhere waits for approval", async () => {
  expect(await refusal(createDevice(), {}, proxied)).toMatchObject({
    code: "NOT_PAIRED",
    message: "pairing required",
    details: { requestId: expect.any(String) },
  });
});

test("a good secret without a device lets in, to nothing", async () => {
  const { client, answer } = await enter(undefined);
  expect(answer.ok).toBe(true);
  expect((await client.request("system-presence")).error!.message).toBe("missing scope: operator.read");
  await client[Symbol.asyncDispose]();
});

async function admitted(device: TestDevice, sent: Sent = {}): Promise<{ client: RawClient; hello: Frame }> {
  const { client, answer } = await enter(device, sent);
  expect(answer.error).toBeUndefined();
  return { client, hello: answer };
}

test("a device of this machine is let in and given a token that lets it in again", async () => {
  const device = createDevice();
  const first = await admitted(device);
  const { deviceToken, scopes } = first.hello.payload!["auth"] as { deviceToken: string; scopes: string[] };
  expect(scopes).toEqual(["operator.admin"]);
  const second = await admitted(device, { auth: { token: deviceToken } });
  expect((await second.client.request("system-presence")).ok).toBe(true);
  await first.client[Symbol.asyncDispose]();
  await second.client[Symbol.asyncDispose]();
});

test("revoking a device's token closes its sockets at once and leaves the others", async () => {
  const lost = createDevice();
  const { client: first, hello } = await admitted(lost);
  const { deviceToken } = hello.payload!["auth"] as { deviceToken: string };
  const { client: second } = await admitted(lost, { auth: { token: deviceToken } });
  const { client: other } = await admitted(createDevice());
  const answer = await other.request("device.token.revoke", { deviceId: lost.id, role: "operator" });
  expect(answer.ok).toBe(true);
  expect((await first.closed).code).toBe(1008);
  expect((await second.closed).code).toBe(1008);
  expect((await other.request("system-presence")).ok).toBe(true);
  await other[Symbol.asyncDispose]();
});

test("those who may decide are notified that a device asks, others are not", async () => {
  const { client: decider } = await admitted(createDevice());
  const { client: reader } = await admitted(createDevice(), { scopes: ["operator.read"] });
  const stranger = createDevice();
  await refusal(stranger, {}, proxied);
  expect(await decider.next((frame) => frame.event === "device.pair.requested")).toMatchObject({ payload: { deviceId: stranger.id } });
  await reader.request("system-presence");
  expect(reader.frames.filter((frame) => frame.event === "device.pair.requested")).toEqual([]);
  await decider[Symbol.asyncDispose]();
  await reader[Symbol.asyncDispose]();
});

test("a Control UI is listed under the name of its browser, also when that changes; other programs keep their own", async () => {
  const device = createDevice();
  const page = (userAgent: string) => enter(device, { ...ui, userAgent }, { origin: started.gateway.url });
  const listed = async () => (await bench.auth.pairing.list()).paired.find(({ deviceId }) => deviceId === device.id);
  expect((await page("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0")).answer.ok).toBe(true);
  const first = await listed();
  expect(first?.displayName).toBe("Firefox on Linux");
  bench.clock.advance(60_000);
  expect((await page("Mozilla/5.0 (Macintosh) Gecko/20100101 Firefox/146.0")).answer.ok).toBe(true);
  expect(await listed()).toMatchObject({ displayName: "Firefox on Mac", approvedAtMs: first!.approvedAtMs, scopes: first!.scopes });
  const program = createDevice();
  await enter(program, { client: { id: "cli", displayName: "my laptop", mode: "cli", version: "1", platform: "linux" }, userAgent: "Firefox/1 Linux" });
  expect((await bench.auth.pairing.list()).paired.find(({ deviceId }) => deviceId === program.id)?.displayName).toBe("my laptop");
});
