/** Who may connect: peers, secrets, devices, pairing. The door of this folder. */
export { createAuth, type AuthDeps } from "./create-auth.ts";
export { openAuth, type OpenAuthDeps } from "./open-auth.ts";
export type { Admission, Admitted, AdmitInput, Auth, AuthMethod } from "./auth.ts";
export type { PeerRequest } from "./peer/peer.ts";
export { isRevoked, type Revocation } from "./revocation.ts";
export { ensureToken, settingsFrom, type AuthSettings } from "./settings.ts";
export type { PairingEvent } from "./devices/pairing.ts";
