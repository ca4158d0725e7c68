/**
 * The turn, its prompt and its workspace. The door of the room.
 * The pieces of a turn are here; the turn itself, which puts them together, is not built yet.
 */
export { runLoop, type LoopOptions } from "./loop/loop.ts";
export type { LoopEnd, LoopEvent, LoopPorts, LoopResult, ToolAnswer } from "./loop/ports.ts";
export { injectFiles } from "./prompt/injected-files.ts";
export type { SystemPromptReport } from "./prompt/report.ts";
export { sessionFacts } from "./prompt/session-facts.ts";
export { buildSystemPrompt } from "./prompt/system-prompt.ts";
export { createSkills } from "./skills/create-skills.ts";
