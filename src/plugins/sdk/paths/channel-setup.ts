export { defineChannelSetupContract } from "../config/setup-wizard.ts";
