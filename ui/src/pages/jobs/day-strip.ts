import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { exactly } from "../../base/figures.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import type { HourCell } from "./job-facts.ts";

const hourOf = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayOf = new Intl.DateTimeFormat(undefined, { weekday: "short" });
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
      ol {
        display: grid;
        grid-auto-flow: column;
        grid-auto-columns: minmax(96px, 1fr);
        margin: 0;
        padding: 0;
        list-style: none;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        background: var(--raised);
        width: max-content;
        min-width: 100%;
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
        font-size: 13px;
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

  private hour({ from, jobs }: HourCell, index: number): TemplateResult {
    const isNewDay = index === 0 || new Date(from).getHours() === 0;
    return html`<li class="hour">
      <div class="faint">${isNewDay ? `${dayOf.format(from)} ` : ""}${hourOf.format(from)}</div>
      <div class="jobs">
        ${jobs
          .slice(0, NAMED)
          .map(
            ({ id, name, times }) =>
              html`<a class="cut" href=${place("jobs", [id])} title=${times.slice(0, 10).map(exactly).join("\n")}
                >${name}${times.length > 1 ? ` ×${times.length}` : ""}</a
              >`,
          )}
        ${jobs.length > NAMED ? html`<span class="faint">${jobs.length - NAMED} more</span>` : nothing}
      </div>
    </li>`;
  }

  protected override render(): TemplateResult {
    return html`<div class="scroll" role="region" aria-label="The coming 24 hours" tabindex="0">
      <ol>
        ${this.cells.map((cell, index) => this.hour(cell, index))}
      </ol>
    </div>`;
  }
}
customElements.define("oc-day-strip", DayStrip);
