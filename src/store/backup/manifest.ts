import { createHash } from "node:crypto";
import { AppError } from "../../base/errors.ts";
import type { Manifest } from "./types.ts";

/** Placeholder while the digest is computed. */
const NO_DIGEST = "0".repeat(64);
const DIGEST = /"digest": "([0-9a-f]{64})"/;

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The manifest as it is written. Since version 2 it contains the digest of its own text, so that an altered byte in it is detected, too. */
export function manifestText(manifest: Omit<Manifest, "digest">): Buffer {
  // The digest comes first: no file name can come before it and look like it.
  const text = `${JSON.stringify({ digest: NO_DIGEST, ...manifest }, null, 2)}\n`;
  return Buffer.from(text.replace(NO_DIGEST, digestOf(text)));
}

/** Parses a manifest; throws when it is invalid or altered. */
export function parseManifest(bytes: Buffer): Manifest {
  const text = bytes.toString("utf8");
  const value: Manifest | null = JSON.parse(text);
  if (value?.format !== "openclaw-backup" || !Array.isArray(value.files)) throw new AppError("INVALID_INPUT", "the manifest is not from this program");
  const { version }: { readonly version: unknown } = value;
  if (version !== 1 && version !== 2 && version !== 3)
    throw new AppError("INVALID_INPUT", `the backup has version ${String(version)}, this program reads versions 1 to 3; update it first`, {
      details: { unopened: "too_new" },
    });
  if (version >= 2) {
    const [, digest] = DIGEST.exec(text) ?? [];
    // Compared as bytes: invalid UTF-8 would read the same after a change.
    const isWhole = digest !== undefined && Buffer.from(text).equals(bytes) && digestOf(text.replace(digest, NO_DIGEST)) === digest;
    if (!isWhole) throw new AppError("INVALID_INPUT", "the manifest was changed after it was written");
  }
  return value;
}
