import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, bearer, start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
let widened: Started;
beforeAll(async () => {
  const every = ["exec", "process", "read", "write", "edit", "apply_patch", "bash", "sessions_spawn", "sessions_send", "gateway", "whatsapp_login"];
  [gateway, widened] = await Promise.all([
    start({ gateway: { auth: { token: TOKEN, rateLimit: { maxAttempts: 10_000 } } } }),
    start({ gateway: { tools: { allow: every, deny: ["web_fetch"] } } }),
  ]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await widened[Symbol.asyncDispose]();
});

const invoke = async ({ url }: Started, tool: unknown, headers: Record<string, string> = bearer(TOKEN)): Promise<number> =>
  (await ask(url, "/tools/invoke", { method: "POST", headers, body: JSON.stringify({ tool, args: {} }) })).status;

/** Tools that reach further than who calls them. 404: as if they were not there. */
const DENIED = ["sessions_spawn", "sessions_send", "gateway", "whatsapp_login"];
const NEVER = ["exec", "process", "read", "write", "edit", "apply_patch", "bash", "shell", "apply-patch"];
const DISGUISES = (name: string): readonly string[] => [name, name.toUpperCase(), ` ${name} `, `${name}\n`, `\t${name}`];
const ODD = (name: string): readonly string[] => [`${name}\u0000`, `./${name}`, `${name}/`, `${name} x`, `\u200b${name}`, name.replace("e", "е")];

test("30: over HTTP the powerful tools are not there by default, however their names are written", async () => {
  for (const name of [...DENIED, ...NEVER])
    for (const tool of [...DISGUISES(name), ...ODD(name).filter((odd) => odd !== name)]) expect([tool, await invoke(gateway, tool)]).toEqual([tool, 404]);
});

test("30: what runs programs or touches files is not there whatever the configuration allows; the rest only when it is named; deny wins", async () => {
  for (const tool of NEVER.flatMap(DISGUISES)) expect([tool, await invoke(widened, tool)]).toEqual([tool, 404]);
  // It is there, and asks for its arguments.
  expect(await invoke(widened, "gateway")).toBe(400);
  expect(await invoke(widened, "web_fetch")).toBe(404);
  expect(await invoke(gateway, "web_fetch")).toBe(400);
});

test("30: without the secret no tool says whether it is there", async () => {
  for (const tool of [...DENIED, ...NEVER, "web_fetch", "nothing"]) {
    expect(await invoke(gateway, tool, {})).toBe(401);
    expect(await invoke(gateway, tool, bearer("guess"))).toBe(401);
  }
});

test("30: names that are no text, or sit in a prototype, call nothing", async () => {
  for (const tool of [null, 1, {}, [], ["exec"], { toString: "exec" }, ""]) expect(await invoke(gateway, tool)).toBe(400);
  for (const tool of ["__proto__", "constructor", "toString", "hasOwnProperty"]) expect(await invoke(gateway, tool)).toBe(404);
});
