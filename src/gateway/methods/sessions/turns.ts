import { AppError } from "../../../base/errors.ts";
import type { Turns } from "../../turns.ts";

export interface SessionTurns {
  /** Changes to one session are made one after the other. */
  readonly turns: Turns;
}

/** Runs change sessions too, without waiting for a turn: how often a change is tried again when one got in between. */
const MAX_RETRIES = 20;

/**
 * Makes a change when those of the session that came before are done, and again when a run changed the session meanwhile. `prepare` is done before each
 * try, outside of the turn: it may take long.
 */
export async function inTurn<T>(key: string, shownKey: string, { turns }: SessionTurns, change: () => Promise<T>, prepare?: () => Promise<void>): Promise<T> {
  for (let retry = 0; ; retry += 1) {
    await prepare?.();
    try {
      return await turns(`session ${key}`, change);
    } catch (error) {
      if (!(error instanceof AppError && error.code === "CONFLICT")) throw error;
      if (retry < MAX_RETRIES) continue;
      throw new AppError("UNAVAILABLE", `Session ${shownKey} is still active; try again in a moment.`, { cause: error, details: { retryable: true } });
    }
  }
}
