export { createChannelDmPolicy } from "../config/setup-config.ts";
