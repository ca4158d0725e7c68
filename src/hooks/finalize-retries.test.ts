import { expect, test } from "vitest";
import { createFinalizeRetries } from "./index.ts";

const revise = (retry?: { instruction: string; idempotencyKey?: string; maxAttempts?: number }) => ({
  action: "revise" as const,
  reason: "why",
  ...(retry ? { retry } : {}),
});

test("a request has three passes, and the model gets the reason and the instruction", () => {
  const retries = createFinalizeRetries();
  expect(retries.take("a", revise({ instruction: "check it" }))).toEqual({ retry: true, attempt: 1, instruction: "why\n\ncheck it" });
  expect(retries.take("a", revise())).toEqual({ retry: true, attempt: 2, instruction: "why" });
  expect(retries.take("a", revise())).toMatchObject({ retry: true, attempt: 3 });
  expect(retries.take("a", revise())).toEqual({ retry: false, why: "attempts" });
});

test("passes are counted by plugin and key", () => {
  const retries = createFinalizeRetries();
  const once = (idempotencyKey: string) => revise({ instruction: "x", idempotencyKey, maxAttempts: 1 });
  expect([
    retries.take("a", once("k")).retry,
    retries.take("a", once("k")).retry,
    retries.take("a", once("l")).retry,
    retries.take("b", once("k")).retry,
  ]).toEqual([true, false, true, true]);
});

test("a request cannot raise the host's cap, and new keys do not make a run endless", () => {
  const retries = createFinalizeRetries();
  const asked = Array.from({ length: 5 }, () => retries.take("a", revise({ instruction: "x", maxAttempts: 100 })).retry);
  expect(asked).toEqual([true, true, true, false, false]);
  const more = Array.from({ length: 20 }, (_, index) => retries.take("a", revise({ instruction: "x", idempotencyKey: String(index) })));
  expect(more.filter((decision) => decision.retry)).toHaveLength(6);
  expect(more.at(-1)).toEqual({ retry: false, why: "run" });
});

test("a forced end is not a retry", () => {
  expect(createFinalizeRetries().take("a", { action: "finalize" })).toEqual({ retry: false, why: "finalize" });
});
