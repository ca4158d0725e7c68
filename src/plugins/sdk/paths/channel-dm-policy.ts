export { createChannelDmPolicy } from "../newer/setup-config.ts";
