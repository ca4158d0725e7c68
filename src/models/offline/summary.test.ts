import { expect, test } from "vitest";
import { asksForSummary, summarize, summarizePrompt } from "./summary.ts";

const CONVERSATION = `<conversation>
[User]: Build the shed in shed/plan.md. Never use nails.

[Assistant thinking]: hmm
[Assistant]: I drew a plan. It has two walls.

[Assistant tool calls]: write({"path":"plan.md"})

[Tool result]: error: permission denied

[User]: We decided on oak. What is next?
</conversation>

Write the summary.`;

test("a prompt with a conversation asks for a summary", () => {
  expect([asksForSummary(CONVERSATION), asksForSummary("sum up"), asksForSummary("<conversation>")]).toEqual([true, false, false]);
});

test("goals, wishes, work, failures, decisions and what is open come under the documented headings", () => {
  expect(summarizePrompt(CONVERSATION)).toBe(`## Goal
- Build the shed in shed/plan.md.
- We decided on oak.

## Constraints & Preferences
- Never use nails.

## Progress
### Done
- [x] I drew a plan.
- [x] called write({"path":"plan.md"})

### In Progress
- [ ] We decided on oak. What is next?

### Blocked
- error: permission denied

## Key Decisions
- We decided on oak.

## Next Steps
- answer: We decided on oak. What is next?

## Critical Context
- plan.md`);
});

test("an earlier summary is carried over, except its open items", () => {
  const earlier = summarizePrompt(CONVERSATION);
  const later = summarizePrompt(
    `<previous-summary>\n${earlier}\n</previous-summary>\n<conversation>\n[User]: Paint it.\n[Assistant]: It is red.\n</conversation>`,
  );
  expect(later).toContain("- Build the shed in shed/plan.md.\n- We decided on oak.\n- Paint it.");
  expect(later).toContain("- [x] I drew a plan.");
  expect(later).toContain("- [x] It is red.");
  expect(later).toContain("### In Progress\n- (none)");
  expect(later).toContain("- Never use nails.");
});

test("it stays short for any conversation, and contains the first goal", () => {
  const talk = Array.from({ length: 5000 }, (_, n) => [
    { kind: "user" as const, text: `Goal ${n}. You must ${"x".repeat(900)}` },
    { kind: "assistant" as const, text: `Done ${n}.` },
  ]).flat();
  const summary = summarize(talk);
  expect(summary.length).toBeLessThan(10_000);
  expect(summary).toContain("- Goal 0.\n- Goal 4989.");
  expect(summary).toContain("- [x] Done 4999.");
});
