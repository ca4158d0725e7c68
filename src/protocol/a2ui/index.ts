/** A2UI: interfaces that agents describe in messages. Used by the gateway, which checks them, and by the page, which draws them. */
export { absolutePath, createA2uiModel, readPath, type A2uiModel, type Surface } from "./model.ts";
export { MOST_TEXT, parseJsonl, parseMessage, type A2uiMessage, type Component } from "./parse.ts";
export type { Action, Children, Dynamic } from "./values.ts";
export { MOST_DEPTH, MOST_DRAWN } from "./tree.ts";
