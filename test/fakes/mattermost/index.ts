export type { Channel, Post, User } from "./objects.ts";
export { startMattermost, type FakeMattermost } from "./server.ts";
