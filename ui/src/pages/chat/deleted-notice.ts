import { html, nothing, type TemplateResult } from "lit";
import { t } from "../../words/words.ts";
import type { Deletion } from "./deletions.ts";

/** Says that the conversation on the screen was deleted elsewhere, and the ways on. */
export function deletedNotice(
  title: string,
  deletion: Deletion | undefined,
  { restore, begin }: { readonly restore: (deletion: Deletion) => void; readonly begin: () => void },
): TemplateResult {
  return html`<div class="note warn row wrap" role="alert">
    <span class="grow">${t`“${title}” was deleted elsewhere. What you send now starts a new chat.`}</span>
    ${deletion ? html`<button class="small" @click=${() => restore(deletion)}>${t("Undo")}</button>` : nothing}
    <button class="small" @click=${begin}>${t("New chat")}</button>
  </div>`;
}
