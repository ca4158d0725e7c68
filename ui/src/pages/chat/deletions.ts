import type { MethodResult } from "openclaw/client";
import { keep } from "../../base/keep.ts";
import { failureText, reasonOf } from "../../link/failure.ts";
import type { PageContext } from "../../shell/context.ts";
import { t } from "../../words/words.ts";

/** A conversation that was deleted in this browser, and what brings it back. */
export interface Deletion {
  readonly key: string;
  readonly title: string;
  readonly undo: NonNullable<MethodResult<"sessions.delete">["undo"]>;
}

const KEPT = "deleted";
/** Older ones are no longer offered here. */
const MOST = 30;

/** What this browser deleted and can bring back, the newest first. All its tabs have the same. */
export const deletions = (): readonly Deletion[] => keep.json<readonly Deletion[]>(KEPT) ?? [];

export function keepDeletions(done: readonly Deletion[]): void {
  keep.setJson(KEPT, [...done.toReversed(), ...deletions()].slice(0, MOST));
}

/** For anyone who signs in next. */
export const forgetDeletions = (): void => keep.setText(KEPT, undefined);

const drop = (gone: Deletion): void =>
  keep.setJson(
    KEPT,
    deletions().filter(({ undo }) => undo !== gone.undo),
  );

/** Brings one back. Gives why not, for people: what may work later stays on the list. */
export async function restored(deletion: Deletion, link: Pick<PageContext["link"], "request">): Promise<string | undefined> {
  try {
    await link.request("sessions.restore", { undo: deletion.undo });
  } catch (error) {
    if (reasonOf(error) === "in-use") {
      return t`“${deletion.title}” was not restored: a new conversation was begun in its place. Delete the new one, then restore this one under “Deleted” in the list.`;
    }
    if (reasonOf(error) === "gone") drop(deletion);
    return failureText(error);
  }
  drop(deletion);
  return undefined;
}
