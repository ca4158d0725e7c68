import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevice, type TestDevice } from "../harness/auth.ts";
import { enter, visit, type DeviceClient } from "../harness/device-client.ts";
import { start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
let admins: DeviceClient[];
beforeAll(async () => {
  gateway = await start({ gateway: { trustedProxies: ["127.0.0.1"] } });
  admins = await Promise.all([1, 2, 3, 4].map(() => enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] })));
});
afterAll(async () => {
  for (const admin of admins) await admin[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

async function requestOf(device: TestDevice): Promise<string> {
  await using asking = await visit(gateway.url, { device, token: TOKEN, scopes: ["operator.read"], from: "203.0.113.9" });
  expect(asking.answer.error?.code).toBe("NOT_PAIRED");
  return (asking.answer.error!.details as { requestId: string }).requestId;
}

test("7: of a hundred approvals of one request at once, over several connections, one succeeds", async () => {
  const device = createDevice();
  const requestId = await requestOf(device);
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => admins[n % admins.length]!.ask("device.pair.approve", { requestId })));
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  for (const { ok, error } of answers) if (!ok) expect(error).toMatchObject({ code: "INVALID_REQUEST", message: "unknown requestId" });
  const { payload } = await admins[0]!.ask("device.pair.list");
  const paired = (payload as { paired: { deviceId: string; tokens: unknown[] }[] }).paired.filter(({ deviceId }) => deviceId === device.id);
  expect(paired).toMatchObject([{ tokens: [{ role: "operator" }] }]);
  const resolved = admins[1]!.frames.filter(({ event, payload: said }) => event === "device.pair.resolved" && said?.["requestId"] === requestId);
  expect(resolved).toHaveLength(1);
});

test("7: a request that was approved, rejected or removed cannot be used again", async () => {
  const [approved, rejected] = [await requestOf(createDevice()), await requestOf(createDevice())];
  expect((await admins[0]!.ask("device.pair.approve", { requestId: approved })).ok).toBe(true);
  expect((await admins[0]!.ask("device.pair.reject", { requestId: rejected })).ok).toBe(true);
  for (const requestId of [approved, rejected])
    for (const method of ["device.pair.approve", "device.pair.reject"] as const)
      expect((await admins[1]!.ask(method, { requestId })).error?.message).toBe("unknown requestId");
});

test("7: of approvals and rejections at once one counts, and the device is in or out accordingly", async () => {
  const device = createDevice();
  const requestId = await requestOf(device);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => admins[n % 4]!.ask(n % 2 === 0 ? "device.pair.approve" : "device.pair.reject", { requestId })),
  );
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  const approved = answers.findIndex(({ ok }) => ok) % 2 === 0;
  await using back = await visit(gateway.url, { device, token: TOKEN, scopes: ["operator.read"], from: "203.0.113.9" });
  expect(back.answer.ok).toBe(approved);
});

test("7: a request does not outlive a kill as something that can be redeemed twice", async () => {
  const own = await start({ gateway: { trustedProxies: ["127.0.0.1"] } });
  const device = createDevice();
  let requestId: string;
  {
    await using asking = await visit(own.url, { device, token: TOKEN, scopes: ["operator.read"], from: "203.0.113.9" });
    requestId = (asking.answer.error!.details as { requestId: string }).requestId;
    await using admin = await enter(own.url, { token: TOKEN, scopes: ["operator.admin"] });
    expect((await admin.ask("device.pair.approve", { requestId })).ok).toBe(true);
    own.process.child.kill("SIGKILL");
    await own.process.exited;
  }
  await using again = await own.place.gateway();
  await using admin = await enter(again.url!, { token: TOKEN, scopes: ["operator.admin"] });
  expect((await admin.ask("device.pair.approve", { requestId })).error?.message).toBe("unknown requestId");
  await using back = await enter(again.url!, { device, token: TOKEN, scopes: ["operator.read"], from: "203.0.113.9" });
  expect((await back.ask("health")).ok).toBe(true);
});
