import { amount, anything, choice, closed, list, maybe, text, flag } from "./pieces.ts";

/** What a page shows: a file of the canvas, or A2UI. */
const target = closed({ kind: choice(["file", "a2ui"]), path: maybe(text({ description: "Below the canvas folder." })) });

export const canvasFields = {
  visible: flag(),
  target,
  revision: amount({ description: "Grows with every change." }),
  messages: list(anything(), { description: "A2UI messages, checked and in one form for all versions." }),
};

/** All that a page needs to show a canvas. */
export const CanvasViewSchema = closed(canvasFields);
