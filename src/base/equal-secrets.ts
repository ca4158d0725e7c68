import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text, "utf8").digest();

/**
 * Compares secrets in constant time; all comparisons of secrets use it. Both are hashed first, so that neither content nor length shows in the
 * timing.
 * An empty secret equals nothing.
 */
export function equalSecrets(presented: string, expected: string): boolean {
  const equal = timingSafeEqual(digest(presented), digest(expected));
  return equal && expected !== "";
}
