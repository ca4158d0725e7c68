import { fileURLToPath } from "node:url";

/** A file and line of a stack trace. */
export interface StackLocation {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

const FRAME = /^at (?:.*\(|async )?((?:file:\/\/)?\/[^()]+?):(\d+):\d+\)?$/;

/** The origin of an error by its stack: the innermost file below `folder`, else the innermost file. */
export function findStackLocation(error: unknown, folder?: string): StackLocation | undefined {
  if (!(error instanceof Error) || typeof error.stack !== "string") return undefined;
  const locations = error.stack.split("\n").flatMap((text) => {
    const [, written = "", line] = FRAME.exec(text.trim()) ?? [];
    const file = pathOf(written);
    return file ? [{ file, line: Number(line) }] : [];
  });
  return (folder === undefined ? undefined : locations.find(({ file }) => file.startsWith(`${folder}/`))) ?? locations[0];
}

/** A path as a stack writes it: plain or a URL, with a query that distinguishes module generations. */
function pathOf(written: string): string | undefined {
  if (!written.startsWith("file://")) return written.replace(/\?.*$/, "");
  try {
    return fileURLToPath(written.replace(/\?.*$/, ""));
  } catch {
    return undefined; // A URL of another machine.
  }
}
