export { createChannelPairingController, createPairingPrefixStripper } from "../messages/pairing.ts";
