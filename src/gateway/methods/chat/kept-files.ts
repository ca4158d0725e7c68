import { rm } from "node:fs/promises";
import type { Ids } from "../../../base/ids.ts";
import { loadSaving } from "../../../media/index.ts";
import type { RunRequest } from "../../ports.ts";
import type { AttachedFile } from "./attachments.ts";

type Kept = NonNullable<RunRequest["files"]>;

/** Files of a message, on disk below the state folder. Unless `keep` is called they are removed again. */
export interface KeptFiles extends AsyncDisposable {
  readonly files: Kept;
  /** The message was accepted: they belong to it. */
  keep(): void;
}

const OTHER = "application/octet-stream";

/** Stores what came with a message as files from channels are stored: under a name of ours. */
export async function keepFiles(attached: readonly AttachedFile[], { stateDir, ids }: { readonly stateDir: string; readonly ids: Ids }): Promise<KeptFiles> {
  let files: { path: string; mimeType: string }[] = [];
  const kept: KeptFiles = {
    get files() {
      return files;
    },
    keep: () => void (files = []),
    async [Symbol.asyncDispose]() {
      for (const { path } of files) await rm(path, { force: true });
    },
  };
  if (attached.length === 0) return kept;
  const { saveMedia } = await loadSaving();
  try {
    for (const { data, mimeType, fileName } of attached) {
      const saved = await saveMedia({ buffer: data, contentType: mimeType, originalFilename: fileName, maxBytes: data.length }, { stateDir, ids });
      files.push({ path: saved.path, mimeType: saved.contentType ?? OTHER });
    }
  } catch (error) {
    await kept[Symbol.asyncDispose]();
    throw error;
  }
  return kept;
}
