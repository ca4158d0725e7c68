import type { Asker } from "./asker.ts";
import type { Draft } from "./draft.ts";
import type { Flow, Given } from "./given.ts";
import type { SetupPlace } from "./place.ts";

/** What every step works on. */
export interface Setup {
  readonly place: SetupPlace;
  readonly draft: Draft;
  /** Absent: nobody is there, and what was given decides. */
  readonly ask: Asker | undefined;
  readonly given: Given;
  readonly flow: Flow;
  /** What is set already stays as it is, and is not asked for. */
  readonly keep: boolean;
  /** Something that the person should know; shown where somebody asks, at the end where nobody does. */
  readonly tell: (text: string) => Promise<void>;
}
