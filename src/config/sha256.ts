/** Hexadecimal SHA-256. `node:crypto` is loaded at the first call: a check of a file needs no hash, and the module costs milliseconds. */
export function sha256(content: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(content).digest("hex");
}
