import { expect, test } from "vitest";
import { manualClock } from "../../../base/clock.ts";
import { systemRandom } from "../../../base/random.ts";
import { CODE_LIFE_MS, createLoginCodes, MAX_CODES } from "./codes.ts";

const setUp = () => {
  const clock = manualClock();
  return { clock, codes: createLoginCodes({ clock, random: systemRandom }) };
};

test("a code is good once", () => {
  const { codes } = setUp();
  const { code } = codes.make();
  expect([codes.take(code), codes.take(code)]).toEqual([true, false]);
});

test("a code has at least 128 random bits and fits into an address", () => {
  const { codes } = setUp();
  const made = Array.from({ length: 15 }, () => codes.make().code);
  expect(new Set(made).size).toBe(15);
  for (const code of made) expect([code, Buffer.from(code, "base64url").length >= 16, encodeURIComponent(code)]).toEqual([code, true, code]);
});

test("a code ends after ten minutes, to the millisecond", () => {
  const { clock, codes } = setUp();
  const [first, second] = [codes.make(), codes.make()];
  expect(first.expiresAt).toBe(clock.now() + CODE_LIFE_MS);
  clock.advance(CODE_LIFE_MS - 1);
  expect(codes.take(first.code)).toBe(true);
  clock.advance(1);
  expect([codes.size, codes.take(second.code)]).toEqual([0, false]);
});

test("what is no code is never taken", () => {
  const { codes } = setUp();
  const { code } = codes.make();
  for (const wrong of ["", code.slice(1), `${code} `, code.toUpperCase(), "__proto__", "constructor"])
    expect([wrong, codes.take(wrong)]).toEqual([wrong, false]);
  expect(codes.size).toBe(1);
});

test("at most twenty are out: the oldest gives way", () => {
  const { codes } = setUp();
  const made = Array.from({ length: MAX_CODES + 3 }, () => codes.make().code);
  expect(codes.size).toBe(20);
  expect(made.map((code) => codes.take(code))).toEqual([false, false, false, ...Array.from({ length: 20 }, () => true)]);
});

test("a changed shared secret ends every code", () => {
  const { codes } = setUp();
  const made = [codes.make(), codes.make({ deviceId: "a" })];
  codes.revoked({ sharedSecret: true, methods: ["token"] });
  expect(made.map(({ code }) => codes.take(code))).toEqual([false, false]);
});

test("a device that is revoked takes the codes it made with it, and no others", () => {
  const { codes } = setUp();
  const made = [codes.make(), codes.make({ deviceId: "a" }), codes.make({ deviceId: "b" })];
  codes.revoked({ deviceId: "a", cause: "removed" });
  expect(made.map(({ code }) => codes.take(code))).toEqual([true, false, true]);
});
