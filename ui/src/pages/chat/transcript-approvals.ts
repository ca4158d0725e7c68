import type { Approval } from "./approvals-board.ts";
import { askedId } from "./model/commands.ts";
import type { Item } from "./model/items.ts";
import { callsOf } from "./transcript-rows.ts";

/** So much of a card has to be in the log's frame for it to be seen. Pixels. */
const ENOUGH = 40;

/** Requests whose calls are not among the items: they stand at the end of the log. */
export function unplacedApprovals(approvals: readonly Approval[], items: readonly Item[]): readonly Approval[] {
  if (approvals.length === 0) return [];
  const placed = new Set(items.flatMap((item) => callsOf(item).map(({ result }) => askedId(result))));
  return approvals.filter(({ id }) => !placed.has(id));
}

/** Whether one of the cards in a list can be seen in its scroller. */
export function seesApproval(scroller: HTMLElement, list: HTMLElement | null): boolean {
  const frame = scroller.getBoundingClientRect();
  return [...(list?.querySelectorAll("oc-approval") ?? [])].some((card) => {
    const { top, bottom } = card.getBoundingClientRect();
    return bottom > frame.top + ENOUGH && top < frame.bottom - ENOUGH;
  });
}
