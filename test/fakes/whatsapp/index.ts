export { startWhatsApp, type FakeWhatsApp } from "./server.ts";
export type { Group, Person, Seen } from "./world.ts";
