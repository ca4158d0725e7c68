export { startSlack, type FakeSlack } from "./server.ts";
export { signature, signedPost } from "./delivery.ts";
export type { Message, User } from "./world.ts";
