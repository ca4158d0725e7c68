/** Steps of an OAuth login that need no network. */
import { createHash, randomBytes } from "node:crypto";
import { unbuilt } from "../unbuilt.ts";

/** A verifier in hex and its challenge (S256). */
export function generateHexPkceVerifierChallenge(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString("hex");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

export const generateOAuthState = (): string => randomBytes(16).toString("hex");

/** The code in a redirect's URL, or what is wrong with it. */
export function parseOAuthCallbackInput(input: string, expectedState?: string): { code: string; state?: string | undefined } | { error: string } {
  const text = input.trim();
  if (!URL.canParse(text)) return text ? { error: "Paste the full address that the browser was redirected to" } : { error: "Nothing was entered" };
  const query = new URL(text).searchParams;
  const code = query.get("code");
  const state = query.get("state") ?? undefined;
  if (!code) return { error: query.get("error") ?? "The address contains no code" };
  return expectedState !== undefined && state !== expectedState ? { error: "The address belongs to another login" } : { code, state };
}

export const waitForLocalOAuthCallback = unbuilt("waitForLocalOAuthCallback", "models (login)");
