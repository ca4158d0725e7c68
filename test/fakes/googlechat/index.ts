export { CHAT, type TokenFacts } from "./google.ts";
export { certificateOf, jwtOf, signingKey } from "./keys.ts";
export type { Message, Space, User } from "./objects.ts";
export { startGoogleChat, type FakeGoogleChat } from "./server.ts";
