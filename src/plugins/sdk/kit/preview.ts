/** A message that shows an answer while it is written, on platforms where messages can be edited. Whatever goes wrong with it, the answer is not touched. */
import { randomUUID } from "node:crypto";
import type { ChannelPreview } from "../../../protocol/index.ts";
import { asChannelError } from "./failure.ts";

export interface EditedPreviewDeps {
  /** Posts the first text; resolves with the id of the message. */
  post(text: string, nonce: string): Promise<string>;
  /** A post that is made again under its nonce within this time is the same message: one whose answer got lost is found again. */
  readonly nonceWindowMs?: number | undefined;
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
  /** The first post, from its first attempt on. */
  let first: { readonly text: string; readonly nonce: string; readonly at: number; isUnsure?: boolean } | undefined;
  let isOver = false;
  let isLost = false;
  let quietUntil = 0;
  let working: Promise<void> | undefined;

  function failed(error: unknown): void {
    const failure = asChannelError(error);
    if (id === undefined && first && failure?.delivery.state !== "failed") {
      // Another text may be posted where this one certainly was not.
      if (failure?.delivery.state !== "retry") first.isUnsure = true;
      else if (!first.isUnsure) first = undefined;
      if (canFind()) {
        quietUntil = now() + Math.max(failure?.delivery.retryAfterMs ?? 0, intervalMs);
        return;
      }
    }
    if (failure?.delivery.state === "retry") {
      const asked = failure.delivery.retryAfterMs;
      quietUntil = now() + (asked === undefined ? SLOW_DOWN_MS : Math.max(asked, intervalMs));
      return;
    }
    // It may have been posted; nobody will edit it.
    if (id === undefined && failure?.delivery.state !== "failed") isLost = true;
    isOver = true;
  }

  /** Whether the first post may be there, and can be found by making it again. */
  const canFind = (): boolean => id === undefined && first?.isUnsure === true && now() - first.at < (deps.nonceWindowMs ?? 0);

  async function post(text: string): Promise<string> {
    first ??= { text, nonce: randomUUID(), at: now() };
    id = await deps.post(first.text, first.nonce);
    return first.text;
  }

  /** Always the newest text; texts in between are left out. */
  async function work(): Promise<void> {
    while (!isOver && !signal.aborted && wanted !== shown && now() >= quietUntil) {
      if (first?.isUnsure && id === undefined && !canFind()) {
        isOver = isLost = true;
        return;
      }
      const text = wanted;
      try {
        if (id === undefined) shown = await post(text);
        else {
          await deps.edit(id, text);
          shown = text;
        }
      } catch (error) {
        failed(error);
      }
    }
  }

  /** Whatever comes of it: the answer is sent all the same. */
  async function find(): Promise<void> {
    if (canFind()) await post(wanted).catch(() => undefined);
  }

  return {
    async update(text) {
      if (isOver || (id === undefined && text.length < minChars)) return;
      wanted = fitting(text, maxChars);
      working ??= work().finally(() => (working = undefined));
      await working;
    },
    id: () => id ?? (isLost || first?.isUnsure ? null : undefined),
    async seal() {
      isOver = true;
      await working;
      await find();
      return id;
    },
    async discard() {
      isOver = true;
      await working;
      await find();
      const last = id;
      id = undefined;
      if (last !== undefined) await deps.remove(last).catch(() => undefined);
    },
  };
}
