/**
 * What holds for every channel: text in pieces that fit, and what is known about a message before a session sees it.
 * The door of the room.
 */
export * from "./inbound/index.ts";
export * from "./text/index.ts";
