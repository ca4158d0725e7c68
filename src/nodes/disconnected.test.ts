import { expect, test } from "vitest";
import { AppError, messageOf } from "../base/errors.ts";
import { disconnectedText, withOutcome } from "./disconnected.ts";

const error = new AppError("UNAVAILABLE", disconnectedText("system.run"));

test("a node that disconnects leaves a command of unknown outcome, unless it was never sent", () => {
  const lost = messageOf(withOutcome(error, { code: "DISCONNECTED", outcome: "unknown" }));
  expect(lost).toMatch(/^node disconnected \(system\.run\): the command may have run and may still be running on that machine/);
  expect(messageOf(withOutcome(error, { code: "DISCONNECTED" }))).toBe("node disconnected (system.run): the command was not sent");
  expect(withOutcome(error, { code: "TIMEOUT" })).toBe(error);
});
