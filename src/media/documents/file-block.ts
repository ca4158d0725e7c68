import { clip } from "../../base/text.ts";
import type { DocumentText } from "./types.ts";

/** Marks text of others. */
export type Mark = (content: string, options: { readonly source: string; readonly notice?: boolean }) => string;

const MAX_NAME = 120;

/** A name without what could end the attribute or the block. */
const safeName = (name: string): string => clip(name.replaceAll(/[\p{Cc}\p{Cf}"'<>&]/gu, "_"), MAX_NAME);

/** Text that cannot end its own block. */
const safeText = (text: string): string => text.replaceAll(/<(?=\/?\s*file\b)/gi, "‹");

/** A document as it stands in a prompt: marked as text of others, with a note when it is not all of it. */
export function fileBlock(mark: Mark, { name, mimeType }: { readonly name: string; readonly mimeType: string }, read: DocumentText): string {
  const { text, truncated, pages, pagesRead } = read;
  const isPartial = pages !== undefined && pagesRead !== undefined && pagesRead < pages;
  const note = isPartial ? `\n[the first ${pagesRead} of ${pages} pages are shown]` : truncated ? "\n[the beginning is shown]" : "";
  return `<file name="${safeName(name)}" mime="${safeName(mimeType)}">\n${mark(safeText(text), { source: "document", notice: true })}${note}\n</file>`;
}
