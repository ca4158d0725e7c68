import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { ago, exactly, plural } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyState } from "../../parts/empty.ts";
import { pageLook } from "../../parts/page-look.ts";
import { place } from "../../shell/router.ts";
import { percent, placeText, sessionText, snippetText, type Hit, type Recall } from "./memory-facts.ts";
import { t } from "../../words/words.ts";

/** What models were given of the memory, turn by turn, newest first. */
export class MemoryRecalls extends LitElement {
  static override styles = [
    sheet,
    pageLook,
    css`
      :host {
        display: block;
      }
      .card {
        padding: 12px 16px;
        margin-bottom: 10px;
      }
      h3 {
        overflow-wrap: anywhere;
      }
      ul.passages {
        list-style: none;
        margin: 8px 0 0;
        padding: 0;
        display: grid;
        gap: 8px;
      }
      ul.passages li {
        padding-inline-start: 12px;
        border-inline-start: 2px solid var(--line-strong);
      }
      .snippet {
        display: -webkit-box;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 3;
        line-clamp: 3;
        overflow: hidden;
        overflow-wrap: anywhere;
        white-space: pre-line;
        font-size: var(--type-row);
      }
    `,
  ];
  @property({ attribute: false }) recalls: readonly Recall[] = [];
  @property({ attribute: false }) titles: ReadonlyMap<string, string> = new Map();
  /** In which times are shown. */
  @property() timeZone: string | undefined;
  @property({ attribute: false }) hrefOf: (hit: Pick<Hit, "path" | "startLine" | "endLine">) => string | undefined = () => undefined;

  private passage(hit: Recall["results"][number]): TemplateResult {
    const href = this.hrefOf(hit);
    return html`<li>
      <div class="faint">${href === undefined ? placeText(hit) : html`<a href=${href}>${placeText(hit)}</a>`} · ${percent(hit.score)} ${t("of 100")}</div>
      <div class="snippet" dir="auto">${snippetText(hit.snippet)}</div>
    </li>`;
  }

  private trace({ runId, sessionKey }: Recall): TemplateResult | typeof nothing {
    if (runId !== undefined) return html`<a class="button small" href=${place("trace", [runId])}>${t("Trace")}</a>`;
    return sessionKey === undefined ? nothing : html`<a class="button small" href=${place("trace", [], { session: sessionKey })}>${t("Session traces")}</a>`;
  }

  private recall(recall: Recall): TemplateResult {
    const { at, sessionKey, entryId, asked, query, automatic, results } = recall;
    const when = at === undefined ? Number.NaN : Date.parse(at);
    const session = sessionText(sessionKey, this.titles);
    return html`<li class="card">
      <div class="row wrap">
        <h3 class="grow" dir="auto">${asked ?? query}</h3>
        ${Number.isNaN(when) ? nothing : html`<span class="faint" title=${exactly(when, this.timeZone)}>${ago(when)}</span>`} ${this.trace(recall)}
      </div>
      <p class="faint">
        ${plural(results.length, t("passage"), t("passages"))} ${automatic ? t("added to the message") : html`${t`for the search “${query}”`}`} ${t("in")}
        ${sessionKey === undefined ? session : html`<a href=${place("chat", [sessionKey], { entry: entryId })}>${session}</a>`}
      </p>
      <ul class="passages">
        ${results.map((hit) => this.passage(hit))}
      </ul>
    </li>`;
  }

  protected override render(): TemplateResult {
    if (this.recalls.length === 0) {
      return emptyState({
        icon: "memory",
        title: t("Nothing recalled yet"),
        text: t("Passages appear here when an agent searches its memory or receives them with a message."),
      });
    }
    return html`<ul class="list" aria-label=${t("Recalled")}>
      ${this.recalls.map((recall) => this.recall(recall))}
    </ul>`;
  }
}
customElements.define("oc-memory-recalls", MemoryRecalls);
