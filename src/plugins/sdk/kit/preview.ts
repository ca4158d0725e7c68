/** A message that shows an answer while it is written, on platforms where messages can be edited. Whatever goes wrong with it, the answer is not touched. */
import type { ChannelPreview } from "../../../protocol/index.ts";
import { asChannelError } from "./failure.ts";

export interface EditedPreviewDeps {
  /** Posts the first text; resolves with the id of the message. */
  post(text: string): Promise<string>;
  edit(messageId: string, text: string): Promise<unknown>;
  remove(messageId: string): Promise<unknown>;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** The message that a process before this one showed it in. */
  readonly previewId?: string | undefined;
  /** Nothing is shown below this length. Default 30. */
  readonly minChars?: number | undefined;
  /** Longer texts are cut. Default 4000. */
  readonly maxChars?: number | undefined;
  /** Least pause after a refusal that asks for one. Default 1000. */
  readonly intervalMs?: number | undefined;
}

/** How long nothing is shown after a failure that says nothing about the next attempt. */
const SLOW_DOWN_MS = 5000;

/** As much as fits, not cut inside of a character. */
function fitting(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

export function createEditedPreview(deps: EditedPreviewDeps): ChannelPreview {
  const { now, signal, minChars = 30, maxChars = 4000, intervalMs = 1000 } = deps;
  let id = deps.previewId;
  let [shown, wanted] = ["", ""];
  let isOver = false;
  let isLost = false;
  let quietUntil = 0;
  let working: Promise<void> | undefined;

  function failed(error: unknown): void {
    const failure = asChannelError(error);
    if (failure?.delivery.state === "retry") {
      const asked = failure.delivery.retryAfterMs;
      quietUntil = now() + (asked === undefined ? SLOW_DOWN_MS : Math.max(asked, intervalMs));
      return;
    }
    // It may have been posted; nobody will edit it.
    if (id === undefined && failure?.delivery.state !== "failed") isLost = true;
    isOver = true;
  }

  /** Always the newest text; texts in between are left out. */
  async function work(): Promise<void> {
    while (!isOver && !signal.aborted && wanted !== shown && now() >= quietUntil) {
      const text = wanted;
      try {
        if (id === undefined) id = await deps.post(text);
        else await deps.edit(id, text);
        shown = text;
      } catch (error) {
        failed(error);
      }
    }
  }

  return {
    async update(text) {
      if (isOver || (id === undefined && text.length < minChars)) return;
      wanted = fitting(text, maxChars);
      working ??= work().finally(() => (working = undefined));
      await working;
    },
    id: () => id ?? (isLost ? null : undefined),
    async seal() {
      isOver = true;
      await working;
      return id;
    },
    async discard() {
      isOver = true;
      await working;
      const last = id;
      id = undefined;
      if (last !== undefined) await deps.remove(last).catch(() => undefined);
    },
  };
}
