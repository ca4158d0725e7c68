import type { PlacedStep, StoryLane, StoryStep, StoryStepKind } from "./story.ts";

const LANES: Readonly<Record<StoryStepKind, StoryLane>> = {
  received: "arrival",
  gate: "arrival",
  route: "arrival",
  hook: "plugins",
  queue: "queue",
  merged: "queue",
  start: "turn",
  resumed: "turn",
  end: "turn",
  compaction: "turn",
  model: "model",
  attempt: "model",
  tool: "tools",
  approval: "tools",
  block: "delivery",
  delivery: "delivery",
};

/** What a step may be a part of, the nearest first. */
const WITHIN: Readonly<Partial<Record<StoryStepKind, readonly StoryStepKind[]>>> = {
  attempt: ["model"],
  model: ["compaction", "start"],
  approval: ["tool", "start"],
  hook: ["tool", "model", "start"],
  tool: ["start"],
  compaction: ["start"],
  block: ["start"],
  resumed: ["start"],
};

/** Times are rounded, and some are those of the commit. */
const SLACK_MS = 5;

/** When a step is over; the beginning of a turn stands for the whole of it. */
function endOf(step: StoryStep, turnEnd: number): number {
  if (step.kind === "start") return turnEnd;
  return step.ms === undefined ? (step.kind === "tool" ? turnEnd : step.at) : step.at + step.ms;
}

/** Steps by their beginning, each in its lane and below what it is a part of. What began at once stays in its order. */
export function placed(steps: readonly StoryStep[]): readonly PlacedStep[] {
  const sorted = steps.toSorted((a, b) => a.at - b.at);
  const turnEnd = sorted.find(({ kind }) => kind === "end")?.at ?? Infinity;
  const holds = (outer: StoryStep, inner: StoryStep): boolean => inner.at >= outer.at - SLACK_MS && endOf(inner, turnEnd) <= endOf(outer, turnEnd) + SLACK_MS;
  return sorted.map((step) => {
    const kinds = WITHIN[step.kind] ?? [];
    const parents = kinds.map((kind) => sorted.findLastIndex((outer) => outer !== step && outer.kind === kind && holds(outer, step)));
    const parent = parents.find((at) => at !== -1);
    return { ...step, lane: LANES[step.kind], ...(parent === undefined ? {} : { parent }) };
  });
}
