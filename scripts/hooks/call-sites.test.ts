import { expect, test } from "vitest";
import { HOOKS } from "../../src/hooks/index.ts";
import { hookCallSites, hookProblems } from "./call-sites.ts";
import { allHookFields, fieldProblems, hookFields, supplyingCode } from "./fields.ts";
import { NOT_IN_A_GATEWAY, UNCALLED } from "./uncalled.ts";

/** As the lists stood when they were made: from here on they only get shorter. */
const LONGEST = [
  "before_install",
  "cron_changed",
  "cron_reconciled",
  "subagent_delivery_target",
  "subagent_ended",
  "subagent_progress",
  "subagent_spawned",
  "subagent_spawning",
];

test("every hook is called somewhere, or stands in the list of those that are not", () => {
  expect(hookProblems(Object.keys(HOOKS), hookCallSites(), UNCALLED)).toEqual([]);
});

test("the lists of exceptions only shrink, and each has its reason", () => {
  for (const [name, reason] of Object.entries({ ...UNCALLED, ...NOT_IN_A_GATEWAY })) {
    expect(LONGEST).toContain(name);
    expect(reason).not.toBe("");
  }
});

test("every documented field of a hook is supplied somewhere, or its comment says that it is not", () => {
  expect(fieldProblems(allHookFields(), supplyingCode())).toEqual([]);
});

test("a field that nothing supplies, and one that is supplied against its comment, are found", () => {
  const fields = hookFields(`
export interface MadeEvent extends HookEventBase {
  /** Known. */
  made: string;
  /** Not supplied: nobody knows. */
  unknown?: string;
  lost?: { deep: string };
  /** Not supplied: stale. */
  found?: string;
}
export interface MadeResult {
  answer?: string;
}
`);
  expect(fields.map(({ name }) => name)).toEqual(["MadeEvent.made", "MadeEvent.unknown", "MadeEvent.lost", "MadeEvent.found"]);
  expect(fieldProblems(fields, "return { made: 1, found };")).toEqual([
    expect.stringContaining("MadeEvent.lost is supplied nowhere"),
    expect.stringContaining("MadeEvent.found is supplied"),
  ]);
});

test("a hook nobody calls, an exception that is called, and one that is no hook are all found", () => {
  const sites = new Map([["b", ["src/x.ts"]]]);
  const problems = hookProblems(["a", "b"], sites, { b: "not built", c: "gone" });
  expect(problems).toHaveLength(3);
  expect(problems.join("\n")).toMatch(/a is called nowhere[\s\S]*b is called in src\/x\.ts[\s\S]*c in .* is no hook/);
});
