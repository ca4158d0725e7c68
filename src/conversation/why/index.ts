export { createWhy, type Why } from "./create-why.ts";
export type { PlacedStep, Story, StoryAbout, StoryLane, StoryStep, StoryStepKind, StoryStore, Verdict, WhyDeps } from "./story.ts";
export { isTelling, shown, STEP_NAMES, whyText } from "./text.ts";
