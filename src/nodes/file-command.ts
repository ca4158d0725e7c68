import { createHash } from "node:crypto";

/** What is written, and whether an existing file may be replaced by it. */
export interface WrittenFile {
  readonly base64: string;
  readonly overwrite: boolean;
}

/** How a question about moving a file names it: what is asked about is what is moved. */
export function fileCommandText(command: string, path: string, written?: WrittenFile): string {
  if (written === undefined) return `${command} ${path}`;
  const content = Buffer.from(written.base64, "base64");
  const replaces = written.overwrite ? ", may replace a file" : "";
  return `${command} ${path} (${content.length} bytes, sha256 ${createHash("sha256").update(content).digest("hex")}${replaces})`;
}
