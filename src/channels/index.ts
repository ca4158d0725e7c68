/**
 * What holds for every channel: text in pieces that fit, and what is known about a message before a session sees it.
 * The door of the room.
 */
export * from "./access/index.ts";
export * from "./inbound/index.ts";
export * from "./rich-text/index.ts";
export * from "./text/index.ts";
export * from "./reactions/index.ts";
export { agentIdentity, channelSections, messageSetting, sectionOf, type MessagePlace, type Section } from "./sections.ts";
export * from "./pairing/index.ts";
export * from "./manager/index.ts";
