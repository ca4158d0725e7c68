/** Who may connect: peers, secrets, devices, pairing. The entry point of this folder. */
export { createAuth, openAuth, type AuthDeps, type OpenAuthDeps } from "./create-auth.ts";
export type { Admission, Admitted, AdmitInput, Auth, AuthMethod } from "./auth.ts";
export type { PeerRequest } from "./peer/peer.ts";
export { isRevoked, type Revocation } from "./revocation.ts";
export { ensureToken, settingsFrom, type AuthSettings } from "./settings.ts";
export type { PairingEvent } from "./devices/pairing.ts";
