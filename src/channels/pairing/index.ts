/** Pairing requests and approved senders. */
export { createAllowLists, type AllowLists, type AllowListsDeps } from "./allow-lists.ts";
export { createAllowed, type Allowed, type AllowedDeps, type AllowedSender } from "./allowed.ts";
export { createPairing, type AllowEntry, type Pairing, type PairedSender, type PairingDeps } from "./create-pairing.ts";
export { pairingReply } from "./reply.ts";
export type { PairingMeta, PairingRequest } from "./request.ts";
