/**
 * Credentials: which may serve a provider, in which order, and how long a failed one is in cooldown. Logins are made and renewed here.
 * Entry point of this part of the module.
 */
export type {
  Access,
  AuthProfiles,
  AuthProfilesDeps,
  Candidate,
  CandidateOptions,
  CredentialCooldown,
  CredentialType,
  ProfileView,
  Refresh,
} from "./profiles.ts";
export type { FailureKind, Cooldown } from "./cooldowns.ts";
export { createAuthProfiles, keysInRotation, wantsNextKey } from "./candidates.ts";
export { oauthClient, setupTokenProblem, type ClientResult, type ClientOptions, type OAuthClient } from "./oauth/client.ts";
export { browserLogin, type BrowserLoginDeps } from "./oauth/browser-login.ts";
export { deviceLogin, type DeviceLoginDeps } from "./oauth/device-login.ts";
export { googleProject, type GoogleProjectDeps } from "./oauth/google-project.ts";
export { createRequestAccess, type RequestAccess } from "./access.ts";
