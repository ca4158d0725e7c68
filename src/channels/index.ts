/**
 * What all channels share: splitting text, and processing a message before a session sees it.
 * Entry point of the module.
 */
export * from "./access/index.ts";
export * from "./inbound/index.ts";
export * from "./rich-text/index.ts";
export * from "./text/index.ts";
export * from "./reactions/index.ts";
export { agentIdentity, channelSections, messageSetting, sectionOf, type MessageScope, type Section } from "./sections.ts";
export * from "./pairing/index.ts";
export * from "./manager/index.ts";
