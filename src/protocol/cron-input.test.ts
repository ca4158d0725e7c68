import { expect, test } from "vitest";
import { normalizeCronAdd, normalizeCronUpdate } from "./cron-input.ts";
import { loadValidators } from "./index.ts";

const JOB = {
  name: "say hello",
  schedule: { kind: "cron", expr: "0 9 * * *" },
  sessionTarget: "isolated",
  wakeMode: "now",
  payload: { kind: "agentTurn", message: "say hello" },
};

test.each([
  ["as declared", JOB],
  ["wrapped in data", { data: JOB }],
  ["wrapped in job", { job: { ...JOB, name: "  " } }],
  [
    "kinds in another case",
    { ...JOB, schedule: { kind: "Cron", expr: "0 9 * * *" }, payload: { kind: "AGENTTURN", message: "say hello" }, sessionTarget: "Isolated" },
  ],
  ["kinds left out", { schedule: { expr: "0 9 * * *" }, payload: { message: "say hello" } }],
  ["the message at the top", { schedule: { expr: "0 9 * * *" }, message: "say hello" }],
])("a job %s is the same job", async (_form, written) => {
  const params = normalizeCronAdd(written);
  expect(params).toEqual(JOB);
  expect((await loadValidators()).params("cron.add", params) ?? []).toEqual([]);
});

test("older fields are moved: atMs, a delivery called deliver, and the key of the call stays beside the job", () => {
  expect(normalizeCronAdd({ idempotencyKey: "k", job: { schedule: { atMs: 1 }, text: "tea", delivery: { mode: "deliver", to: "x" } } })).toEqual({
    idempotencyKey: "k",
    name: "tea",
    wakeMode: "now",
    schedule: { kind: "at", at: "1" },
    payload: { kind: "systemEvent", text: "tea" },
    sessionTarget: "main",
    delivery: { mode: "announce", to: "x" },
  });
  expect(normalizeCronUpdate({ id: "a", patch: { schedule: { everyMs: 5 }, message: "new" } })).toEqual({
    id: "a",
    patch: { schedule: { kind: "every", everyMs: 5 }, payload: { kind: "agentTurn", message: "new" }, sessionTarget: "isolated" },
  });
});

test("what cannot be a job is left for the schema to refuse", async () => {
  for (const written of [undefined, null, 7, "x", [], {}, { schedule: 3 }, { data: 3 }]) {
    const issues = (await loadValidators()).params("cron.add", normalizeCronAdd(written) ?? {});
    expect(issues?.length).toBeGreaterThan(0);
  }
});
