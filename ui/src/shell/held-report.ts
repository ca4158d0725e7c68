import { failureText } from "../link/failure.ts";
import { t } from "../words/words.ts";
import type { PageContext } from "./context.ts";

/** Says that a change waits for the connection, and what became of those that waited over a reload. */
export function reportHeldChanges({ link, toasts }: Pick<PageContext, "link" | "toasts">): void {
  let before = link.held.value;
  link.held.subscribe((count) => {
    if (count > before && link.state.value.kind !== "open") toasts.say(t("Not connected. This change is saved and made as soon as the connection is back."));
    before = count;
  });
  link.onResent(({ done, failed }) => {
    if (done > 0) toasts.say(done === 1 ? t("The change made without a connection was saved.") : t`${done} changes made without a connection were saved.`);
    for (const error of failed) toasts.warn(t`A change made without a connection was refused: ${failureText(error)}`);
  });
}
