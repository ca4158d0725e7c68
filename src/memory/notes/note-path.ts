import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { hasLink } from "../read-lines.ts";

/** The file in which what is always true stands. */
export const MAIN_NOTE = "MEMORY.md";

/** A note that may be written: where it is, and how it is cited. */
export interface NotePath {
  readonly path: string;
  readonly file: string;
}

const isFine = (part: string): boolean => part !== "" && part !== "." && part !== ".." && part.length <= 200;

/** A note of a workspace by its path: `MEMORY.md` or a Markdown file below `memory/`. Everything else is refused, links too. */
export function notePath(workspace: string, written: string): NotePath {
  const path = written.trim().replace(/^\.\//, "");
  const parts = path.split("/");
  const isNote = path === MAIN_NOTE || path === "memory.md" || (parts.length > 1 && parts[0] === "memory" && /\.md$/i.test(path));
  if (!isNote || !parts.every(isFine) || /[\0\\]/.test(path)) {
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(written.slice(0, 200))} is no note: expected MEMORY.md or a Markdown file in memory/, such as memory/2026-11-17.md`,
    );
  }
  const file = join(workspace, ...parts);
  if (hasLink(workspace, file)) throw new AppError("INVALID_INPUT", `${path} is a symbolic link or lies behind one; notes are plain files`);
  return { path, file };
}

/** The day that a note is named after: `YYYY-MM-DD`. */
export function dayOfNote(path: string): string | undefined {
  const found = /(?:^|\/)(\d{4}-\d{2}-\d{2})(?!\d)[^/]*$/.exec(path)?.[1];
  return found !== undefined && !Number.isNaN(Date.parse(`${found}T12:00:00Z`)) ? found : undefined;
}
