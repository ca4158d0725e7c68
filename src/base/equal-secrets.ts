import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/**
 * The one place where secrets are compared. Both are hashed first, so that neither their content nor their length can be told from the
 * time it takes. An empty secret equals nothing.
 */
export function equalSecrets(presented: string, expected: string): boolean {
  const equal = timingSafeEqual(digest(presented), digest(expected));
  return equal && expected !== "";
}
