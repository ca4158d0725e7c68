import { expect, test } from "vitest";
import type { DoctorDeps } from "./deps.ts";
import { examine } from "./examine.ts";
import type { Check, Finding } from "./finding.ts";

const NOTHING = {} as DoctorDeps;
const check = (id: string, run: Check["run"]): Check => ({ id, topic: "state", title: id, run });
const broken = (repair: Finding["repair"]): Finding => ({ level: "error", text: "broken", todo: "mend it", ...(repair ? { repair } : {}) });

test("a check that crashes is a finding, and the others are made", async () => {
  const outcomes = await examine(NOTHING, { checks: [check("a", () => Promise.reject(new Error("boom"))), check("b", () => [])], decide: () => true });
  expect(outcomes).toMatchObject([
    { id: "a:failed", level: "error", text: expect.stringContaining("boom") },
    { id: "b", level: "ok" },
  ]);
});

test("a repair that fails leaves its finding, with the reason", async () => {
  const apply = (): string => {
    throw new Error("disk full");
  };
  const [outcome] = await examine(NOTHING, { checks: [check("a", () => [broken({ summary: "mend", safe: true, apply })])], decide: () => true });
  expect(outcome).toMatchObject({ level: "error", text: "broken; the repair failed: disk full", todo: "mend it", repair: { summary: "mend", safe: true } });
});

test("nothing is repaired unless it is decided, and the offer is shown", async () => {
  const [outcome] = await examine(NOTHING, {
    checks: [check("a", () => [broken({ summary: "mend", safe: false, force: true, apply: () => "never" })])],
    decide: () => false,
  });
  expect(outcome).toMatchObject({ level: "error", repair: { summary: "mend", safe: false, force: true } });
  expect(outcome).not.toHaveProperty("repaired");
});

test("a later check sees what an earlier repair did", async () => {
  let mended = false;
  const apply = (): string => ((mended = true), "mended");
  const checks = [check("a", () => [broken({ summary: "mend", safe: true, apply })]), check("b", () => (mended ? [] : [broken(undefined)]))];
  expect(await examine(NOTHING, { checks, decide: () => true })).toMatchObject([{ level: "ok", repaired: "mended" }, { level: "ok" }]);
});
