/** `openclaw/plugin-sdk/testing`: a real host in the process of a test, and platforms to connect to, for authors of plugins. */
export { createTestHost } from "./host.ts";
export type { ModelCall, TestAnswer, TestHost, TestHostOptions, TestMessage, TestOutcome, TestPlugin, TestReply, ToolCallContext } from "./types.ts";
export { createDeliveries, type Deliveries, type DeliveriesOptions } from "./fake-server/deliveries.ts";
export { createFaults, type Fault, type Faults } from "./fake-server/faults.ts";
export type { SentPart } from "./fake-server/multipart.ts";
export { type Answer, type Asked, type FakeServer, type FakeServerOptions, type FakeSocket, startFakeServer } from "./fake-server/server.ts";
export { runChannelAccount, type RunningAccount, type RunningAccountOptions } from "./running-account.ts";
