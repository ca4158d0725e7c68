/** `openclaw/plugin-sdk/testing`: a real host in the process of a test, for authors of plugins. */
export { createTestHost } from "./host.ts";
export type { TestHost, TestHostOptions, TestMessage, TestPlugin, ToolCallContext } from "./types.ts";
