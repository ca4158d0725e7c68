export { defineChannelSetupContract } from "../newer/setup-wizard.ts";
