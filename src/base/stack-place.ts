import { fileURLToPath } from "node:url";

/** A line of a file. */
export interface StackPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

const FRAME = /^at (?:.*\(|async )?((?:file:\/\/)?\/[^()]+?):(\d+):\d+\)?$/;

/** Where an error came from, by its stack: the innermost place below `folder`, else the innermost that is a file. */
export function placeInStack(error: unknown, folder?: string): StackPlace | undefined {
  if (!(error instanceof Error) || typeof error.stack !== "string") return undefined;
  const places = error.stack.split("\n").flatMap((text) => {
    const found = FRAME.exec(text.trim());
    const file = found && pathOf(found[1]!);
    return file ? [{ file, line: Number(found[2]) }] : [];
  });
  return (folder === undefined ? undefined : places.find(({ file }) => file.startsWith(`${folder}/`))) ?? places[0];
}

/** A path as a stack writes it: plain or a URL, with what tells generations of a module apart behind it. */
function pathOf(written: string): string | undefined {
  if (!written.startsWith("file://")) return written.replace(/\?.*$/, "");
  try {
    return fileURLToPath(written.replace(/\?.*$/, ""));
  } catch {
    return undefined; // Not of this machine.
  }
}
