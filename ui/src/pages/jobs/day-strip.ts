import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { exactly } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { styleMap } from "../../look/style-map.ts";
import { place } from "../../shell/router.ts";
import type { Band, HourCell } from "./job-facts.ts";
import { locale, t } from "../../words/words.ts";

const hourOf = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const dayOf = new Intl.DateTimeFormat(locale, { weekday: "short" });
/** Jobs that are named in one hour; more are counted. */
const NAMED = 4;

/** The coming day as a strip of hours, with what runs in each. */
export class DayStrip extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      .day {
        border: 1px solid var(--line);
        border-radius: var(--radius);
        background: var(--raised);
        width: max-content;
        min-width: 100%;
      }
      ol,
      ul {
        display: grid;
        grid-template-columns: repeat(25, minmax(96px, 1fr));
        margin: 0;
        padding: 0;
        list-style: none;
      }
      ul {
        gap: 4px 0;
        padding: 6px 0;
        border-bottom: 1px solid var(--line);
        font-size: var(--type-ui);
      }
      ul a {
        position: sticky;
        inset-inline-start: 0;
        width: max-content;
        max-width: none;
      }
      ul li {
        border-radius: var(--radius-small);
        background: var(--accent-soft);
      }
      li.hour {
        min-height: 84px;
        padding: 6px 8px;
        border-inline-start: 1px solid var(--line);
      }
      li.hour:first-child {
        border: 0;
      }
      .jobs {
        display: grid;
        gap: 4px;
        margin-top: 4px;
        font-size: var(--type-ui);
      }
      a {
        display: block;
        max-width: 160px;
        padding: 2px 6px;
        border-radius: var(--radius-small);
        background: var(--accent-soft);
        text-decoration: none;
      }
      a:hover,
      a:focus-visible {
        text-decoration: underline;
      }
    `,
  ];
  @property({ attribute: false }) cells: readonly HourCell[] = [];
  @property({ attribute: false }) bands: readonly Band[] = [];
  /** Hours that show all of their jobs. */
  @state() private open: ReadonlySet<number> = new Set();

  private toggle(from: number): void {
    this.open = this.open.has(from) ? new Set([...this.open].filter((one) => one !== from)) : new Set([...this.open, from]);
  }

  private get stops(): readonly HTMLElement[] {
    return [...(this.shadowRoot?.querySelectorAll<HTMLElement>("a, button") ?? [])];
  }

  /** The strip is one stop for Tab: the first of what is in it, or what was used last. */
  private setStop(index = this.stops.findIndex((one) => one.tabIndex === 0 && one.hasAttribute("tabindex"))): void {
    for (const [at, one] of this.stops.entries()) one.tabIndex = at === Math.max(0, index) ? 0 : -1;
  }

  protected override updated(): void {
    this.setStop();
  }

  /** Arrow keys go through what is in the strip. */
  private move(event: KeyboardEvent): void {
    const { key } = event;
    const { stops } = this;
    const at = stops.findIndex((one) => one === this.shadowRoot?.activeElement);
    const isForward = key === "ArrowRight" || key === "ArrowDown";
    const next = key === "Home" ? 0 : key === "End" ? stops.length - 1 : isForward ? at + 1 : key === "ArrowLeft" || key === "ArrowUp" ? at - 1 : undefined;
    const index = next === undefined ? -1 : Math.min(stops.length - 1, Math.max(0, next));
    if (!stops[index]) return;
    event.preventDefault();
    this.setStop(index);
    stops[index].focus();
  }

  private band({ id, name, text, from, to }: Band): TemplateResult {
    return html`<li style=${styleMap({ "grid-column": `${from + 1} / ${to + 2}` })}><a href=${place("jobs", [id])}>${name}: ${text}</a></li>`;
  }

  private hour({ from, jobs }: HourCell, index: number): TemplateResult {
    const isOpen = this.open.has(from);
    const isNewDay = index === 0 || new Date(from).getHours() === 0;
    return html`<li class="hour">
      <div class="faint">${isNewDay ? `${dayOf.format(from)} ` : ""}${hourOf.format(from)}</div>
      <div class="jobs">
        ${jobs.slice(0, isOpen ? jobs.length : NAMED).map(
          ({ id, name, times }) =>
            html`<a
              class="cut"
              href=${place("jobs", [id])}
              title=${times
                .slice(0, 10)
                .map((at) => exactly(at))
                .join("\n")}
              >${name}${times.length > 1 ? ` ×${times.length}` : ""}</a
            >`,
        )}
        ${
          jobs.length > NAMED
            ? html`<button class="small" aria-expanded=${isOpen} @click=${() => this.toggle(from)}>
                ${isOpen ? t("Show fewer") : t`${jobs.length - NAMED} more`}
              </button>`
            : nothing
        }
      </div>
    </li>`;
  }

  protected override render(): TemplateResult {
    return html`<div class="scroll" role="region" aria-label=${t("Next 24 hours")} @keydown=${(event: KeyboardEvent) => this.move(event)}>
      <div class="day">
        ${
          this.bands.length === 0
            ? nothing
            : html`<ul aria-label=${t("Frequent jobs")}>
                ${this.bands.map((band) => this.band(band))}
              </ul>`
        }
        <ol>
          ${this.cells.map((cell, index) => this.hour(cell, index))}
        </ol>
      </div>
    </div>`;
  }
}
customElements.define("oc-day-strip", DayStrip);
