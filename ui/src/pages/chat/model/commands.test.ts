import { expect, test } from "vitest";
import { askedId, unsettled, withReported, type AskedCommand } from "./commands.ts";
import type { ChatEntry } from "./state.ts";

const result = (approvalId: string, status = "approval-pending"): ChatEntry => ({ seq: 1, ts: 1, kind: "tool", content: [], details: { status, approvalId } });

test("a result that waits for approval names it", () => {
  expect(askedId(result("a"))).toBe("a");
  expect([askedId(result("a", "completed")), askedId(undefined), askedId({ details: "x" })]).toEqual([undefined, undefined, undefined]);
});

test("commands are asked after until they have their end", () => {
  const known = withReported(new Map(), [
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

test("what is reported again unchanged changes nothing", () => {
  const reported: AskedCommand = { id: "a", state: "running", output: "one" };
  const known = withReported(new Map(), [reported]);
  expect(withReported(known, [{ ...reported }])).toBe(known);
  expect(withReported(known)).toBe(known);
  expect(withReported(known, [{ ...reported, output: "one two" }]).get("a")).toMatchObject({ output: "one two" });
});
