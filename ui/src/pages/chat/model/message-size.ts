import { bytes } from "../../../base/figures.ts";
import type { Draft } from "./state.ts";
import { t } from "../../../words/words.ts";

/** What stands around a message when it is sent: names, the session, the run. */
const AROUND = 2000;

/** Bytes of a message as it goes over the wire, not less than it will be. Files are a third larger there. */
export function sentBytes({ text, attachments }: Pick<Draft, "text" | "attachments">): number {
  const small = JSON.stringify([text, attachments.map((file) => ({ ...file, content: "" }))]);
  return AROUND + new TextEncoder().encode(small).length + attachments.reduce((sum, { content }) => sum + content.length, 0);
}

/** What is said of a message that is larger than the gateway takes; undefined when it is not, or nobody knows. */
export function tooMuch(draft: Pick<Draft, "text" | "attachments">, limit: number | undefined, what = t("The message")): string | undefined {
  const size = sentBytes(draft);
  if (limit === undefined || size <= limit) return undefined;
  return t`${what} would be ${bytes(size)} when sent; the gateway accepts up to ${bytes(limit)}, about ${bytes((limit * 3) / 4)} of files.`;
}
