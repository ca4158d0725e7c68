import { expect, test } from "vitest";
import type { AskedCommand } from "../model/commands.ts";
import { factsOfAsked } from "./asked.ts";

const call = { name: "exec", args: { command: "ls" } };
const facts = (asked: Omit<AskedCommand, "id">) => factsOfAsked(call, { id: "a", ...asked });

test("a command that was allowed runs with what it writes, and ends with its code", () => {
  expect(facts({ state: "asked" })).toMatchObject({ state: "asked", output: "" });
  expect(facts({ state: "running", startedAt: 5, output: "one\n" })).toMatchObject({ state: "running", startedAt: 5, output: "one\n" });
  expect(facts({ state: "ended", startedAt: 5, endedAt: 9, exitCode: 3, output: "one" })).toMatchObject({
    state: "done",
    details: { exitCode: 3 },
    startedAt: 5,
    endedAt: 9,
    output: "one",
  });
});

test("one that was ended, or did not run, says why", () => {
  expect(facts({ state: "ended", exitCode: null, signal: "SIGTERM", by: "Ann" })).toMatchObject({
    state: "failed",
    note: "It was allowed by Ann but terminated by SIGTERM.",
  });
  expect(facts({ state: "ended", exitCode: null, timedOut: true })).toMatchObject({ state: "failed", note: expect.stringContaining("timed out") });
  expect(facts({ state: "denied", by: "Ann", why: "user-denied" })).toMatchObject({ state: "denied", note: "It did not run: it was denied by Ann." });
  expect(facts({ state: "denied", why: "gateway-restarted", by: "restart" })).toMatchObject({
    state: "restarted",
    note: "It did not run: the gateway restarted first.",
  });
  expect(facts({ state: "expired" }).state).toBe("expired");
  expect(facts({ state: "lost", startedAt: 5 })).toMatchObject({ state: "lost", note: expect.stringContaining("unknown") });
});
