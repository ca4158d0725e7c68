/** The secret that the extension and the relay prove to each other. */
import { createHmac } from "node:crypto";
import { linkSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { equalSecrets } from "../../base/equal-secrets.ts";
import { fileError, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";

const BYTES = 32;
const WRITTEN = /^[0-9a-f]{64}$/;

/** Follows from the key in the extension's manifest. */
export const EXTENSION_ID = "gkabfhpkbkpghpkohbpihahggohegaki";

export const secretFile = (stateDir: string): string => join(stateDir, "browser", "extension-secret");

function stored(file: string): string | undefined {
  try {
    const secret = readFileSync(file, "utf8").trim();
    return WRITTEN.test(secret) ? secret : undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(file, "could not read", error);
  }
}

/** The secret of this installation, made with the first request. The command line and the gateway may ask at the same moment: the first one holds. */
export function relaySecret(stateDir: string, ids: Pick<Ids, "hex">): string {
  const file = secretFile(stateDir);
  const there = stored(file);
  if (there !== undefined) return there;
  ensureFolder(dirname(file));
  const temporary = `${file}.${ids.hex(6)}.tmp`;
  const made = ids.hex(BYTES);
  writeFileSync(temporary, `${made}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(temporary, file);
    return made;
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw fileError(file, "could not write", error);
    const other = stored(file);
    if (other !== undefined) return other;
    throw fileError(file, "does not hold a secret; remove it and install the extension again", error);
  } finally {
    unlinkSync(temporary);
  }
}

export type Side = "relay" | "extension";

/** Both nonces and the port are part of it: a proof is worth nothing in another connection or at another port. */
export interface ProofFacts {
  readonly port: number;
  readonly extensionNonce: string;
  readonly relayNonce: string;
}

export function proofOf(secret: string, side: Side, { port, extensionNonce, relayNonce }: ProofFacts): string {
  return createHmac("sha256", secret).update(`${side}|${port}|${extensionNonce}|${relayNonce}`).digest("hex");
}

export const isProof = (presented: string, secret: string, side: Side, facts: ProofFacts): boolean => equalSecrets(presented, proofOf(secret, side, facts));
