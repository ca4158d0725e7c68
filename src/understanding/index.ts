/**
 * Files and links of messages, for models that cannot see them.
 * Entry point of the module. Importing it loads nothing.
 */
import { lazy } from "../base/lazy.ts";
import type { Understanding } from "./create-understanding.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { UnderstandingDeps } from "./deps.ts";

export type { Understanding } from "./create-understanding.ts";
export type { UnderstandingDeps } from "./deps.ts";
export type { Decision, ReceivedFile, Understood, UnderstandingRequest, UnderstoodFile } from "./types.ts";

/** The code is loaded first. */
export async function createUnderstanding(deps: UnderstandingDeps): Promise<Understanding> {
  return (await import("./create-understanding.ts")).createUnderstanding(deps);
}

/** Opened with the first message that has a file, or a link while links are read. */
export function lazyUnderstanding(config: () => OpenClawConfig, load: () => Promise<Understanding>): Understanding {
  const open = lazy(load);
  let opened: Understanding | undefined;
  return {
    async understand(request, signal) {
      const isLinkRead = (config().tools?.links?.models?.length ?? 0) > 0 && /https?:\/\//i.test(request.text);
      if (request.files.length === 0 && !isLinkRead) return { files: [], links: [] };
      opened ??= await open();
      return opened.understand(request, signal);
    },
    last: (sessionKey) => opened?.last(sessionKey) ?? [],
  };
}
