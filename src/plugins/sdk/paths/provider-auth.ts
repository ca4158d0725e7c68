export { buildOauthProviderAuthResult } from "../network/provider-auth.ts";
export { generateHexPkceVerifierChallenge } from "../network/oauth.ts";
