/** `openclaw/plugin-sdk/testing`: a real host in the process of a test, for authors of plugins. */
export { createTestHost } from "./host.ts";
export type { ModelCall, TestAnswer, TestHost, TestHostOptions, TestMessage, TestOutcome, TestPlugin, TestReply, ToolCallContext } from "./types.ts";
