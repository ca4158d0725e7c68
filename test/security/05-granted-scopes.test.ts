import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { covers, METHODS, SCOPES, type Scope } from "../../src/protocol/index.ts";
import { createDevice } from "../harness/auth.ts";
import { enter, METHOD_NAMES, visit, type DeviceClient } from "../harness/device-client.ts";
import { start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
let admin: DeviceClient;
beforeAll(async () => {
  gateway = await start({ gateway: { trustedProxies: ["127.0.0.1"] } });
  admin = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] });
});
afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

/** Another address for each device: a token that asks for more than it has counts as a guess. */
let addresses = 0;
const elsewhere = (): string => `203.0.${100 + Math.floor((addresses += 1) / 250)}.${addresses % 250}`;
const ODD = ["operator.*", "*", "admin", "operator.admin ", "OPERATOR.ADMIN", "operator", "node", "__proto__", "operator.admin,operator.read"];
const scopes = fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: fc.constantFrom<string>(...SCOPES) }, { weight: 1, arbitrary: fc.constantFrom(...ODD) }), {
  maxLength: 4,
});

/** One method for each scope, to see what a connection really may do. */
const PROBES = new Map<Scope, string>(
  SCOPES.flatMap((scope) => {
    const method = METHOD_NAMES.find((name) => METHODS[name].access === scope && !["config.apply", "config.patch", "update.run"].includes(name));
    return method ? [[scope, method] as const] : [];
  }),
);

/** Scopes of the token that hello hands out: those of the device, not of this connection. */
const heldBy = (client: DeviceClient): string[] => (client.answer.payload!["auth"] as { scopes: string[] }).scopes;

async function mayUse(client: DeviceClient): Promise<Scope[]> {
  const found: Scope[] = [];
  for (const [scope, method] of PROBES) {
    const { error } = await client.request(method, { __canary: true });
    if (!error?.message.startsWith("missing scope")) found.push(scope);
  }
  return found;
}

/** Scopes beyond what each of the lists covers. */
const beyond = (found: readonly string[], ...bounds: readonly (readonly string[])[]): string[] =>
  found.filter((scope) => bounds.some((bound) => !covers(bound, scope as Scope)));

test("5: granted ⊆ asked ∩ approved, and rotation never widens it", { timeout: 120_000 }, async () => {
  let refused = 0;
  let admitted = 0;
  const property = async (first: string[], second: string[], rotated: string[]): Promise<void> => {
    const device = createDevice();
    const from = elsewhere();
    await using asking = await visit(gateway.url, { device, token: TOKEN, scopes: first, from });
    const { requestId } = asking.answer.error!.details as { requestId: string };
    const approval = await admin.ask("device.pair.approve", { requestId });
    if (!approval.ok) throw new Error(JSON.stringify(approval.error));
    await using known = await visit(gateway.url, { device, token: TOKEN, scopes: second, from });
    if (known.answer.ok) {
      admitted += 1;
      expect(beyond(heldBy(known), first)).toEqual([]);
      expect(beyond(await mayUse(known), first, second)).toEqual([]);
    } else {
      refused += 1;
      expect(known.answer.error?.code).toBe("NOT_PAIRED");
      expect(second.every((scope) => covers(first, scope as Scope))).toBe(false);
    }
    const rotation = await admin.ask("device.token.rotate", { deviceId: device.id, role: "operator", scopes: rotated });
    if (!rotation.ok) return;
    const { token, scopes: minted } = rotation.payload as { token: string; scopes: string[] };
    expect(beyond(minted, rotated, first)).toEqual([]);
    await using renewed = await visit(gateway.url, { device, token, scopes: second, from });
    if (renewed.answer.ok) expect(beyond(await mayUse(renewed), minted, second)).toEqual([]);
    else expect(second.every((scope) => covers(minted, scope as Scope))).toBe(false);
  };
  await fc.assert(fc.asyncProperty(scopes, scopes, scopes, property), { numRuns: 60, seed: 5 });
  expect(refused).toBeGreaterThan(5);
  expect(admitted).toBeGreaterThan(5);
});

test("5: a local device gets what it asks for and no more, on each connection by itself", async () => {
  const device = createDevice();
  for (const asked of [["operator.admin"], ["operator.read"], [], ["operator.write"]] as const) {
    await using client = await enter(gateway.url, { device, token: TOKEN, scopes: asked });
    expect(await mayUse(client)).toEqual([...PROBES.keys()].filter((scope) => covers(asked, scope)));
  }
});

test("5: who may only pair cannot approve, rotate or mint more than that", async () => {
  await using pairer = await enter(gateway.url, { token: TOKEN, scopes: ["operator.pairing"] });
  const device = createDevice();
  await using asking = await visit(gateway.url, { device, token: TOKEN, scopes: ["operator.admin"], from: elsewhere() });
  const { requestId } = asking.answer.error!.details as { requestId: string };
  expect((await pairer.ask("device.pair.approve", { requestId })).error?.message).toBe("missing scope: operator.admin");
  expect((await admin.ask("device.pair.approve", { requestId })).ok).toBe(true);
  const wider = await pairer.ask("device.token.rotate", { deviceId: pairer.device!.id, role: "operator", scopes: ["operator.admin"] });
  expect(wider.ok).toBe(false);
  const others = await pairer.ask("device.token.rotate", { deviceId: device.id, role: "operator" });
  if (others.ok) expect((others.payload as { scopes: string[] }).scopes).not.toContain("operator.admin");
});
