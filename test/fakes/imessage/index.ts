export { internal, invalid } from "./methods.ts";
export { type FakeMessages, startMessages } from "./server.ts";
export type { Chat, Row } from "./world.ts";
