import { html, nothing, type TemplateResult } from "lit";
import { ago, exactly } from "../../base/figures.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import type { Hits } from "./sidebar-finder.ts";

type Hit = Hits["results"][number];

/** A text with parts of it marked. */
export function markedText({ text, marks }: Pick<Hit, "text" | "marks">): readonly (string | TemplateResult)[] {
  const parts: (string | TemplateResult)[] = [];
  let at = 0;
  for (const { from, to } of marks) {
    if (from < at || to <= from) continue;
    parts.push(text.slice(at, from), html`<mark>${text.slice(from, to)}</mark>`);
    at = to;
  }
  return [...parts, text.slice(at)];
}

/** Messages that have the words, each with its way there. */
export function messageHits(hits: Hits, { more, left }: { more(): void; left(): void }): TemplateResult | typeof nothing {
  const { results, indexing, off, next } = hits;
  if (off) return html`<p class="count faint">${t("Messages are not searched: memorySearch keeps conversations out of the index.")}</p>`;
  if (results.length === 0)
    return indexing ? html`<p class="count faint" role="status">${t("Messages are still being indexed. Search again later.")}</p>` : nothing;
  return html`<section aria-label=${t("Messages")}>
      <h2>${t("Messages")}</h2>
      <ul>
        ${results.map(
          (hit) =>
            html`<li>
              <a href=${place("chat", [hit.sessionKey], { entry: hit.entryId, at: String(hit.seq) })} @click=${left}>
                <span class="line">
                  <span class="title grow cut" dir="auto">${hit.name}</span>
                  ${hit.ts === 0 ? nothing : html`<time class="time" title=${exactly(hit.ts)}>${ago(hit.ts)}</time>`}
                </span>
                <span class="hit" dir="auto">${hit.role === "user" ? t("You: ") : nothing}${markedText(hit)}</span>
              </a>
            </li>`,
        )}
      </ul>
    </section>
    ${next === undefined ? nothing : html`<button class="plain small more" @click=${more}>${t("More messages")}</button>`}
    ${indexing ? html`<p class="count faint" role="status">${t("Messages are still being indexed. Search again later.")}</p>` : nothing}`;
}
