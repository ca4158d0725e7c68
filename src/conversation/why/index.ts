export { createWhy, type Why } from "./create-why.ts";
export type { Story, StoryAbout, StoryStep, StoryStepKind, StoryStore, Verdict, WhyDeps } from "./story.ts";
export { isTelling, shown, STEP_NAMES, whyText } from "./text.ts";
