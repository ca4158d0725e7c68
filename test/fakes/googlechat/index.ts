export { CHAT, type AudienceType, type TokenFacts } from "./google.ts";
export { certificateOf, jwtOf, signingKey, type SigningKey } from "./keys.ts";
export type { Message, Space, User } from "./objects.ts";
export { startGoogleChat, type FakeGoogleChat, type SayMore } from "./server.ts";
