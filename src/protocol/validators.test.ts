import { expect, test } from "vitest";
import { threadMs } from "../base/thread-time.fixture.ts";
import { loadAnswerChecks, loadValidators, METHODS, type HelloOk, type MethodName, type MethodParams } from "./index.ts";

const validators = await loadValidators();
const client = { id: "cli", version: "1", platform: "linux", mode: "cli" };
const connect = { minProtocol: 3, maxProtocol: 3, client };

test("parameters that are left out count as none", () => {
  expect(validators.params("health", undefined)).toBeUndefined();
  expect(validators.params("health", null)).toBeUndefined();
  expect(validators.params("chat.history", undefined)).toEqual(["must have required property 'sessionKey'"]);
});

test("issues are reported in the documented texts", () => {
  expect(validators.params("health", { extra: 1 })).toEqual(["at root: unexpected property 'extra'"]);
  expect(validators.params("chat.history", { sessionKey: "", limit: 1001 })).toEqual([
    "at /sessionKey: must NOT have fewer than 1 characters",
    "at /limit: must be <= 1000",
  ]);
  expect(validators.params("poll", { to: "x", question: "?", options: ["a"], idempotencyKey: "k" })).toEqual(["at /options: must NOT have fewer than 2 items"]);
});

test("methods without documented parameters take whatever comes", () => {
  expect(validators.params("status", { anything: 1 })).toBeUndefined();
});

test("every method refuses parameters that are no object", () => {
  for (const name of Object.keys(METHODS) as MethodName[]) expect(validators.params(name, "text"), name).toEqual(["must be object"]);
});

test("connect takes the smallest and the fullest form", () => {
  expect(validators.connect(connect)).toBeUndefined();
  const full = {
    ...connect,
    client: { ...client, displayName: "d", deviceFamily: "f", modelIdentifier: "m", instanceId: "i" },
    role: "node",
    scopes: ["operator.read"],
    caps: ["tool-events"],
    commands: ["system.run"],
    permissions: { camera: true },
    pathEnv: "",
    auth: { token: "", password: "p" },
    device: { id: "d", publicKey: "k", signature: "s", signedAt: 0, nonce: "n" },
    locale: "en",
    userAgent: "",
  };
  expect(validators.connect(full)).toBeUndefined();
});

test.each([
  [{ ...connect, extra: 1 }, "at root: unexpected property 'extra'"],
  [{ ...connect, client: { ...client, extra: 1 } }, "at /client: unexpected property 'extra'"],
  [{ ...connect, auth: { token: "t", extra: 1 } }, "at /auth: unexpected property 'extra'"],
  [{ ...connect, device: { id: "d", publicKey: "k", signature: "s", signedAt: 1, extra: 1 } }, "at /device: unexpected property 'extra'"],
  [{ ...connect, permissions: { camera: "yes" } }, "at /permissions/camera: must be boolean"],
  [{ ...connect, minProtocol: 0 }, "at /minProtocol: must be >= 1"],
  [{ ...connect, scopes: [""] }, "at /scopes/0: must NOT have fewer than 1 characters"],
  [{ ...connect, role: "" }, "at /role: must NOT have fewer than 1 characters"],
])("connect is closed at every level: %j", (params, text) => {
  expect(validators.connect(params)).toEqual([text]);
});

test("an unknown role passes the schema, since it has a refusal of its own", () => {
  expect(validators.connect({ ...connect, role: "king" })).toBeUndefined();
});

test("an unknown client id is answered with the known ones", () => {
  expect(validators.connect({ ...connect, client: { ...client, id: "nobody" } })?.[0]).toMatch(/^at \/client\/id: must be one of "webchat-ui", /u);
});

test("a request frame has no other keys", () => {
  const frame = { type: "req", id: "1", method: "health" };
  expect(validators.frame(frame)).toBeUndefined();
  expect(validators.frame({ ...frame, params: { any: ["thing"] } })).toBeUndefined();
  expect(validators.frame({ ...frame, extra: 1 })).toEqual(["at root: unexpected property 'extra'"]);
  expect(validators.frame({ ...frame, id: "" })).toEqual(["at /id: must NOT have fewer than 1 characters"]);
  expect(validators.frame({ ...frame, type: "res" })).toEqual(['at /type: must be equal to constant "req"']);
});

test("a job may be named by its older key", () => {
  expect(validators.params("cron.remove", { jobId: "j" })).toBeUndefined();
  expect(validators.params("cron.remove", {})).toEqual(["must have required property 'id'"]);
  const params: MethodParams<"cron.remove"> = { id: "j", idempotencyKey: "k" };
  expect(validators.params("cron.remove", params)).toBeUndefined();
});

test("checking connect and health takes less than five microseconds of processor time each", async () => {
  const rounds = 20_000;
  const perCall = async (call: () => unknown): Promise<number> => {
    const all = (): void => {
      for (let round = 0; round < rounds; round += 1) call();
    };
    all();
    let least = Infinity;
    for (let times = 0; times < 5; times += 1) least = Math.min(least, ((await threadMs(all)) * 1000) / rounds);
    return least;
  };
  expect(await perCall(() => validators.connect(connect))).toBeLessThan(5);
  expect(await perCall(() => validators.params("health", { probe: true }))).toBeLessThan(5);
});

test("answers can be checked too", async () => {
  const answers = await loadAnswerChecks();
  const hello: HelloOk = {
    type: "hello-ok",
    protocol: 3,
    server: { version: "1", connId: "c" },
    features: { methods: [], events: [] },
    snapshot: { presence: [{ ts: 1, mode: "gateway" }], health: {}, stateVersion: { presence: 1, health: 1 }, uptimeMs: 5 },
    policy: { maxPayload: 1, maxBufferedBytes: 1, tickIntervalMs: 1 },
  };
  expect(answers.hello(hello)).toBeUndefined();
  expect(answers.result("set-heartbeats", { ok: true })).toEqual(["must have required property 'enabled'"]);
  expect(answers.event("tick", { ts: "now" })).toEqual(["at /ts: must be number"]);
  expect(answers.frame({ type: "res", id: "1", ok: false, error: { code: "UNAVAILABLE" } })).toEqual(["at /error: must have required property 'message'"]);
});
