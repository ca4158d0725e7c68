export type { User } from "./objects.ts";
export { startTelegram, type FakeTelegram } from "./server.ts";
