import { html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { styleMap } from "../../look/style-map.ts";
import { emptyState } from "../../parts/empty.ts";
import { highlighted } from "./highlight.ts";
import { citedOf, hitTitle, percent, placeText, reasonsIn, scoreText, snippetText, type Hit } from "./memory-facts.ts";
import { resultsLook } from "./results-look.ts";
import { t } from "../../words/words.ts";

/** What was said beside a message. */
interface Beside {
  readonly speaker?: string;
  readonly role?: string;
  readonly text: string;
}

const keyOf = ({ path, startLine, entryId }: Hit): string => `${path}#${entryId ?? startLine}`;

/** Shown when a question has no results. */
export const noResults = (question: string, indexing: boolean): TemplateResult =>
  emptyState({
    icon: "search",
    title: t`No results for “${question}”`,
    text: indexing
      ? t("The index is still being built. Results appear as they are found.")
      : t("Try fewer or different words, a name or a date. All notes and chats of this agent were searched."),
  });

/** What a search found, as cards. Says `leave` when the arrow keys go above the first one. */
export class SearchResults extends LitElement {
  static override styles = [sheet, resultsLook];
  @property({ attribute: false }) hits: readonly Hit[] = [];
  @property({ attribute: false }) titles: ReadonlyMap<string, string> = new Map();
  /** Where a result opens; undefined where it cannot be opened. */
  @property({ attribute: false }) hrefOf: (hit: Pick<Hit, "path" | "startLine" | "endLine"> & Partial<Hit>) => string | undefined = () => undefined;
  /** In which times are shown. */
  @property() timeZone: string | undefined;
  @state() private open: ReadonlySet<string> = new Set();

  private get stops(): readonly HTMLElement[] {
    return [...this.renderRoot.querySelectorAll<HTMLElement>(".top [data-stop]")];
  }

  /** Sets the focus on the first result. */
  focusFirst(): void {
    this.stops[0]?.focus();
  }

  /** Opens the first result. */
  openFirst(): void {
    this.stops[0]?.click();
  }

  private move(event: KeyboardEvent): void {
    const { stops } = this;
    const from = stops.findIndex((stop) => stop.closest("li")?.contains(this.shadowRoot?.activeElement ?? null));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = event.key === "Home" ? 0 : event.key === "End" ? stops.length - 1 : step === undefined ? undefined : from + step;
    if (next === undefined && event.key !== "Escape") return;
    event.preventDefault();
    if (next === undefined || next < 0) this.dispatchEvent(new CustomEvent("leave"));
    else stops[Math.min(next, stops.length - 1)]?.focus();
  }

  private toggle(key: string): void {
    this.open = this.open.has(key) ? new Set([...this.open].filter((other) => other !== key)) : new Set([...this.open, key]);
  }

  private score({ score }: Hit): TemplateResult {
    const value = percent(score);
    const meaning = t`${scoreText(score)}: ${value} of 100, the chance that this or a nearby passage contains the answer`;
    return html`<span class="score" role="img" aria-label=${meaning} title=${meaning}>
      <span class="meter"><i style=${styleMap({ width: `${value}%` })}></i></span><span class="num">${value}</span>
    </span>`;
  }

  private cited(citation: string): TemplateResult {
    const at = citedOf(citation);
    const href = this.hrefOf(at);
    return href === undefined ? html`${placeText(at)}` : html`<a href=${href}>${placeText(at)}</a>`;
  }

  private replacement({ supersedes, supersededBy }: Hit): TemplateResult | typeof nothing {
    if (supersededBy !== undefined) return html`<span class="badge warn">${t("Replaced by a newer statement")}</span>`;
    return supersedes === undefined ? nothing : html`<span class="badge good">${t("Replaces an older statement")}</span>`;
  }

  private beside(label: string, value: unknown): TemplateResult | typeof nothing {
    const { speaker, role, text } = (value ?? {}) as Partial<Beside>;
    if (typeof text !== "string" || text === "") return nothing;
    return html`<div>
      <h4>${label}</h4>
      <p class="soft">${role === "assistant" ? t("Assistant") : (speaker ?? t("You"))}: ${text}</p>
    </div>`;
  }

  private listOf(title: string, texts: readonly string[]): TemplateResult | typeof nothing {
    if (texts.length === 0) return nothing;
    return html`<div>
      <h4>${title}</h4>
      <ul>
        ${texts.map((text) => html`<li>${text}</li>`)}
      </ul>
    </div>`;
  }

  private why(hit: Hit, id: string): TemplateResult {
    const { words, related, pro, contra } = reasonsIn(hit);
    const { before, after } = hit as { readonly before?: unknown; readonly after?: unknown };
    return html`<div class="why" id=${id}>
      <div class="columns">
        <div class="words">
          <h4>${t("Matched words")}</h4>
          <p>${words.length === 0 ? t("No exact matches") : words.join(", ")}</p>
          ${
            related.length === 0
              ? nothing
              : html`<h4>${t("Related words")}</h4>
                  <p>${related.join(", ")}</p>`
          }
        </div>
        ${this.listOf(t("Ranked higher because"), pro)}${this.listOf(t("Ranked lower because"), contra)}
      </div>
      ${hit.supersededBy === undefined ? nothing : html`<p>${t("Replaced by")} ${this.cited(hit.supersededBy)}</p>`}
      ${hit.supersedes === undefined ? nothing : html`<p>${t("Replaces")} ${this.cited(hit.supersedes)}</p>`}
      ${this.beside(t("Previous message"), before)}${this.beside(t("Next message"), after)}
    </div>`;
  }

  private marked({ snippet, heading, why }: Hit): unknown {
    return highlighted(snippetText(snippet, heading), why).map(({ text, found }) => (found ? html`<mark>${text}</mark>` : text));
  }

  private result(hit: Hit, index: number): TemplateResult {
    const key = keyOf(hit);
    const isOpen = this.open.has(key);
    const href = this.hrefOf(hit);
    const title = hitTitle(hit, this.titles);
    const isChat = hit.source === "sessions";
    const at = hit.at === undefined ? Number.NaN : Date.parse(hit.at);
    const { words, related } = reasonsIn(hit);
    return html`<li class="result ${isOpen ? "open" : ""} ${hit.supersededBy === undefined ? "" : "replaced"}">
      <div class="top">
        ${href === undefined ? html`<b data-stop tabindex="0" dir="auto">${title}</b>` : html`<a data-stop href=${href} dir="auto">${title}</a>`}
        ${isChat ? nothing : html`<span class="faint path cut">${placeText(hit)}</span>`} ${this.score(hit)}
      </div>
      <p class="snippet" dir="auto">${this.marked(hit)}</p>
      <div class="foot">
        ${this.replacement(hit)}
        ${words.length === 0 ? nothing : html`<span class="badge">${icon("search", 12)}${t("Words:")} ${words.slice(0, 4).join(", ")}</span>`}
        ${related.length === 0 ? nothing : html`<span class="badge">${t("Related words")}</span>`}
        ${isChat ? html`<span class="badge">${icon("chat", 12)}${t("From a chat")}</span>` : nothing}
        <button class="small plain" aria-expanded=${isOpen} aria-controls=${`why-${index}`} @click=${() => this.toggle(key)}>
          ${t("Why")}<span class="visually-hidden">: ${title}</span>${icon(isOpen ? "up" : "down", 12)}
        </button>
        ${Number.isNaN(at) ? nothing : html`<span class="faint when" title=${isChat ? exactly(at, this.timeZone) : (hit.at ?? "").slice(0, 10)}>${ago(at)}</span>`}
      </div>
      ${isOpen ? this.why(hit, `why-${index}`) : html`<div id=${`why-${index}`} hidden></div>`}
    </li>`;
  }

  protected override render(): TemplateResult {
    return html`<ol aria-label=${t("Results")} @keydown=${(event: KeyboardEvent) => this.move(event)}>
      ${this.hits.map((hit, index) => this.result(hit, index))}
    </ol>`;
  }
}
customElements.define("oc-memory-results", SearchResults);
