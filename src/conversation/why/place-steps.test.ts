import { expect, test } from "vitest";
import { hookSteps } from "./message-steps.ts";
import { placed } from "./create-why.ts";
import type { StoryStep, StoryStepKind } from "./story.ts";

const step = (kind: StoryStepKind, at: number, ms?: number): StoryStep => ({ at, kind, text: kind, ...(ms === undefined ? {} : { ms }) });
const parents = (steps: readonly StoryStep[]): readonly (readonly [string, string | undefined])[] => {
  const all = placed(steps);
  return all.map(({ kind, parent }) => [kind, parent === undefined ? undefined : all[parent]!.kind]);
};

test("steps are in the order of their beginning, each below what it is a part of", () => {
  expect(
    parents([
      step("end", 500, 400),
      step("tool", 300, 50),
      step("received", 0),
      step("hook", 310, 5),
      step("hook", 20, 5),
      step("start", 100),
      step("model", 110, 180),
      step("attempt", 110, 40),
      step("delivery", 500, 30),
      step("hook", 490, 4),
    ]),
  ).toEqual([
    ["received", undefined],
    ["hook", undefined],
    ["start", undefined],
    ["model", "start"],
    ["attempt", "model"],
    ["tool", "start"],
    ["hook", "tool"],
    ["hook", "start"],
    ["end", undefined],
    ["delivery", undefined],
  ]);
});

test("the call that sums up a conversation belongs to the compaction", () => {
  expect(parents([step("start", 0), step("compaction", 10, 100), step("model", 20, 80), step("model", 120, 50), step("end", 200, 200)])).toEqual([
    ["start", undefined],
    ["compaction", "start"],
    ["model", "compaction"],
    ["model", "start"],
    ["end", undefined],
  ]);
});

test("what a tool that still runs asks for belongs to it", () => {
  expect(parents([step("start", 0), step("tool", 10), step("approval", 20)])).toEqual([
    ["start", undefined],
    ["tool", "start"],
    ["approval", "tool"],
  ]);
});

test("plugins of one dispatch were asked one after the other", () => {
  const entry = (pluginId: string, ms: number, at: number, hook = "before_dispatch") => ({ hook, pluginId, at, ms, decision: "ok" as const });
  const steps = hookSteps([entry("a", 10, 100), entry("b", 20, 100), entry("c", 5, 100, "message_received"), entry("d", 5, 300, "message_received")]);
  expect(steps.map(({ at, ms }) => [at, ms])).toEqual([
    [70, 10],
    [80, 20],
    [95, 5],
    [295, 5],
  ]);
});
