import { lstatSync, unlinkSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { messageOf, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { writeCompressed, type WrittenFile } from "./compressed-file.ts";
import { resolveFile } from "./transcript-path.ts";
import { transcriptRow, type TranscriptRow } from "./rows.ts";
import type { Projection, ProjectionDeps } from "./types.ts";

export interface CompressingDeps extends Pick<ProjectionDeps, "stateDir" | "log"> {
  /** False once the projection is closed, and for a file in an unexpected state. */
  readonly mayReplace: (file: string) => boolean;
  /** Runs work on a file after its pending lines were written and its cached state dropped. */
  readonly leave: (file: string, work: (path: string) => void) => boolean;
}

/** Replaces transcript files by compressed ones. */
export function createCompressing({ stateDir, log, mayReplace, leave }: CompressingDeps): Projection["compress"] {
  /** True when the transcript is unchanged and its file contains nothing more. */
  function isUnchanged(db: DatabaseSync, before: TranscriptRow, path: string): boolean {
    if (!mayReplace(before.file)) return false;
    const now = db.prepare("SELECT file, next_seq, bytes FROM transcripts WHERE tid = ?").get(before.tid);
    if (now?.["file"] !== before.file || now["next_seq"] !== before.nextSeq || now["bytes"] !== before.bytes) return false;
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found === undefined || (found.isFile() && found.size === before.bytes);
  }

  function replace(db: DatabaseSync, before: TranscriptRow, path: string, written: WrittenFile): boolean {
    if (!isUnchanged(db, before, path)) {
      written.discard();
      return false;
    }
    written.publish();
    failpoint("transcript.published");
    return leave(before.file, unlinkSync);
  }

  function failed(file: string, error: unknown): false {
    if (systemCode(error) === "ERR_SQLITE_ERROR") throw error;
    log("a transcript file could not be compressed; it stays as it is", { file, problem: messageOf(error) });
    return false;
  }

  return function* compress(db, tid, synced) {
    const before = transcriptRow(db, tid);
    try {
      const path = resolveFile(stateDir, before.file);
      const written = yield* writeCompressed(db, before, path);
      written.sync((error) =>
        synced(() => {
          try {
            if (error) throw error;
            return replace(db, before, path, written);
          } catch (problem) {
            return failed(before.file, problem);
          }
        }),
      );
    } catch (error) {
      failed(before.file, error);
      synced(() => false);
    }
  };
}
