export { buildOauthProviderAuthResult } from "../provider-auth.ts";
export { generateHexPkceVerifierChallenge } from "../newer/oauth.ts";
