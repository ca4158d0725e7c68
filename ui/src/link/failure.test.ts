import { expect, test } from "vitest";
import { failureText } from "./failure.ts";

const failed = (message: string, fields: object): Error => Object.assign(new Error(message), fields);

test("what a lost connection, a timeout and a gateway that stopped mean is said without names of methods and codes", () => {
  const texts = [
    failed("the connection to the gateway was closed (1006)", { code: "UNAVAILABLE", details: { closeCode: 1006, reason: "" } }),
    failed("overview got no response within 30000 ms", { code: "TIMEOUT", details: { method: "overview" } }),
    failed("config.set got no response within 30000 ms", { code: "TIMEOUT", details: { method: "config.set" } }),
    failed("the gateway stopped while this config.set request was processed", { details: { method: "config.set", details: { outcome: "unknown" } } }),
  ].map(failureText);
  expect(texts).toEqual([
    "The connection was lost before the gateway answered.",
    "The gateway did not answer in time. Try again.",
    "The gateway did not answer in time. It may have done it: check before you try again.",
    "The gateway stopped while doing this. It may have been done: check before you try again.",
  ]);
});

test("why the gateway ended a connection, and what it refused, is said as the gateway says it", () => {
  expect(failureText(failed("the connection to the gateway was closed (1008: slow consumer)", { details: { closeCode: 1008, reason: "slow consumer" } }))).toBe(
    "The gateway closed the connection (1008: slow consumer).",
  );
  expect(failureText(failed("label already in use: a", { details: { method: "sessions.patch" } }))).toBe("Label already in use: a");
});
