export { generateOAuthState, parseOAuthCallbackInput, waitForLocalOAuthCallback } from "../network/oauth.ts";
