import type { Asker } from "./asker.ts";
import type { Draft } from "./draft.ts";
import type { Flow, SetupAnswers } from "./answers.ts";
import type { SetupHost } from "./host.ts";

/** What every step works on. */
export interface Setup {
  readonly host: SetupHost;
  readonly draft: Draft;
  /** Absent: no user can be asked, and `answers` decides. */
  readonly ask: Asker | undefined;
  readonly answers: SetupAnswers;
  readonly flow: Flow;
  /** What is set already stays as it is, and is not asked for. */
  readonly keep: boolean;
  /** Shows a message to the user: at once where questions are asked, else at the end. */
  readonly notify: (text: string) => Promise<void>;
}
