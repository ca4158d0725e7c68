import { exportPassages } from "./export.ts";
import { findTexts } from "./find.ts";
import type { Library } from "./library.ts";
import type { Requests } from "./messages.ts";
import { findRecalls } from "./recalls.ts";
import type { Scheduler } from "./scheduler.ts";

/** Requests that read notes, transcripts or the whole index, instead of searching. */
export type AsideKind = "find" | "recalls" | "export";

export const isAside = (kind: keyof Requests): kind is AsideKind => kind === "find" || kind === "recalls" || kind === "export";

export async function answerAside(library: Library, scheduler: Scheduler, kind: AsideKind, input: Requests[AsideKind]["input"]): Promise<unknown> {
  const { workspace, extraPaths, agentId } = library.settings;
  if (kind === "export") {
    const { after, limit } = input as Requests["export"]["input"];
    if (after === 0) await scheduler.run(() => library.sync());
    return exportPassages(library.open.index, after, limit);
  }
  const reading = library.reading();
  try {
    if (kind === "find") return await scheduler.run(() => findTexts(input as Requests["find"]["input"], { workspace, extraPaths }, reading, agentId));
    return reading ? await scheduler.run(() => findRecalls(reading, agentId, (input as Requests["recalls"]["input"]).limit)) : [];
  } finally {
    // A snapshot that is held keeps the store's log from being emptied.
    reading?.renew();
  }
}
