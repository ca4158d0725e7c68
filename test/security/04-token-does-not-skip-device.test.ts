import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { enter, visit } from "../harness/device-client.ts";
import { start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
beforeAll(async () => {
  gateway = await start({ gateway: { trustedProxies: ["127.0.0.1"], auth: { token: TOKEN, rateLimit: { maxAttempts: 1000 } } } });
});
afterAll(() => gateway[Symbol.asyncDispose]());

const GARBAGE = [
  "x",
  "undefined",
  "null",
  "true",
  "0",
  "Bearer x",
  " ",
  "\u0000",
  "a".repeat(10_000),
  TOKEN.slice(0, -1),
  `${TOKEN} `,
  TOKEN.toUpperCase(),
  "🦞",
];

test.each(GARBAGE.map((token) => ({ token, name: JSON.stringify(token).slice(0, 40) })))(
  "4: $name as a token lets nobody past the device check",
  async ({ token }) => {
    for (const from of [undefined, "203.0.113.9"]) {
      for (const device of [null, createDevice()]) {
        await using client = await visit(gateway.url, { device, token, scopes: ["operator.admin"], from });
        expect(client.answer.ok).toBe(false);
        expect(client.answer.error?.message).toMatch(/^unauthorized|^device identity required$/);
        expect((await client.closed).code).toBe(1008);
      }
    }
  },
);

test("4: from elsewhere the right token does not stand in for a pairing", async () => {
  await using client = await visit(gateway.url, { token: TOKEN, scopes: ["operator.admin"], from: "203.0.113.9" });
  expect(client.answer.error).toMatchObject({ code: "NOT_PAIRED", message: "pairing required" });
});

test("4: the right token with another's device, or a signature over another token, is refused", async () => {
  const [mine, theirs] = [createDevice(), createDevice()];
  await (await enter(gateway.url, { device: theirs, token: TOKEN, scopes: ["operator.admin"] }))[Symbol.asyncDispose]();
  const stolen = { ...mine, sign: (...args: Parameters<typeof mine.sign>) => mine.sign(args[0], args[1], { id: theirs.id, publicKey: theirs.publicKey }) };
  await using posing = await visit(gateway.url, { device: stolen, token: TOKEN, scopes: ["operator.admin"] });
  expect(posing.answer.error?.message).toBe("device signature invalid");
  const other = {
    ...mine,
    sign: (...args: Parameters<typeof mine.sign>) => ({ ...mine.sign({ ...args[0], auth: { token: "other" } }, args[1]), auth: { token: TOKEN } }),
  };
  await using altered = await visit(gateway.url, { device: other, token: TOKEN, scopes: ["operator.admin"] });
  expect(altered.answer.error?.message).toBe("device signature invalid");
});
