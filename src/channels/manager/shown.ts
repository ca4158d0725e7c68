/** Account data that leaves the gateway: plain data without secrets, whatever a plugin put there. */
import { isSecretKey, type Redactor } from "../../base/redaction.ts";

const MAX_DEPTH = 8;

/** A JSON-safe copy: secret fields are left out, secrets in texts are masked. Throws when the value cannot be serialized. */
export function shown(value: unknown, redactor: Pick<Redactor, "text">): unknown {
  const text = JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? String(part) : part));
  return text === undefined ? undefined : bare(JSON.parse(text), redactor, 0);
}

function bare(value: unknown, redactor: Pick<Redactor, "text">, depth: number): unknown {
  if (typeof value === "string") return redactor.text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => bare(item, redactor, depth + 1) ?? null);
  const kept = Object.entries(value).filter(([key, part]) => typeof part !== "string" || !isSecretKey(key));
  return Object.fromEntries(kept.map(([key, part]) => [key, bare(part, redactor, depth + 1)]));
}
