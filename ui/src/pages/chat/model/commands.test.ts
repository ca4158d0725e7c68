import { expect, test } from "vitest";
import { askedId, unsettled, withTold, type AskedCommand } from "./commands.ts";
import type { ChatEntry } from "./state.ts";

const result = (approvalId: string, status = "approval-pending"): ChatEntry => ({ seq: 1, ts: 1, kind: "tool", content: [], details: { status, approvalId } });

test("a result that says that somebody is asked names its approval", () => {
  expect(askedId(result("a"))).toBe("a");
  expect([askedId(result("a", "completed")), askedId(undefined), askedId({ details: "x" })]).toEqual([undefined, undefined, undefined]);
});

test("commands are asked after until they have their end", () => {
  const known = withTold(new Map(), [
    { id: "asked", state: "asked" },
    { id: "runs", state: "running" },
    { id: "over", state: "ended", exitCode: 0 },
    { id: "no", state: "denied" },
  ]);
  expect(
    unsettled(
      ["asked", "runs", "over", "no", "new"].map((id) => result(id)),
      known,
    ),
  ).toEqual(["asked", "runs", "new"]);
});

test("what is told anew without being new changes nothing", () => {
  const told: AskedCommand = { id: "a", state: "running", output: "one" };
  const known = withTold(new Map(), [told]);
  expect(withTold(known, [{ ...told }])).toBe(known);
  expect(withTold(known)).toBe(known);
  expect(withTold(known, [{ ...told, output: "one two" }]).get("a")).toMatchObject({ output: "one two" });
});
