import { createHash } from "node:crypto";
import type { Random } from "../../../base/random.ts";

/** Proof that a code is redeemed by the client that requested it (RFC 7636, S256). */
export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function createPkce(random: Pick<Random, "bytes">): Pkce {
  const verifier = random.bytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}
