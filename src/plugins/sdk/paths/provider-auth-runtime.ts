export { generateOAuthState, parseOAuthCallbackInput, waitForLocalOAuthCallback } from "../newer/oauth.ts";
