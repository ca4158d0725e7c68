export { createChannelPairingController, createPairingPrefixStripper } from "../newer/pairing.ts";
