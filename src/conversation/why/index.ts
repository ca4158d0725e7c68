export { whyInSession } from "./create-why.ts";
export { createWhy, type TellOptions, type Why } from "./create-why.ts";
export type { PlacedStep, Story, StoryAbout, StoryLane, StoryStep, StoryStepKind, StoryStore, Verdict, WhyDeps } from "./story.ts";
export { isTelling, shown, STEP_NAMES, stepText, whyText } from "./text.ts";
