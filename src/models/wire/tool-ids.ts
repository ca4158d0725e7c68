import { createHash } from "node:crypto";

/** At most `max` characters of `[A-Za-z0-9_-]`; a hash distinguishes what is cut or replaced. */
export function plainId(id: string, max = 64): string {
  if (id.length <= max && /^[A-Za-z0-9_-]+$/.test(id)) return id;
  return shortened(id.replaceAll(/[^A-Za-z0-9_-]/g, "_"), id, max);
}

/** Letters and digits only. */
export function alphanumericId(id: string, max = 64): string {
  const plain = id.replaceAll(/[^A-Za-z0-9]/g, "");
  return plain === id && id.length > 0 && id.length <= max ? id : shortened(plain, id, max);
}

/** Exactly nine letters and digits, as Mistral requires. */
export function nineCharacterId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash(id).slice(0, 9);
}

function shortened(readable: string, original: string, max: number): string {
  const mark = hash(original).slice(0, 8);
  return `${readable.slice(0, max - mark.length)}${mark}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
