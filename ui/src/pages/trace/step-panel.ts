import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { duration, exactly, money } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { TraceRow } from "./story-rows.ts";
import { valueTree } from "./value-tree.ts";

/** Everything known of a step. Says `close`, `copy` and `zoom`. */
export class StepPanel extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      .card {
        padding: 14px 16px;
      }
      h2 {
        overflow-wrap: anywhere;
      }
      .text {
        margin: 6px 0 12px;
        overflow-wrap: anywhere;
      }
      dl {
        display: grid;
        grid-template-columns: minmax(84px, auto) 1fr;
        gap: 4px 12px;
        margin: 0;
        font-size: 13.5px;
      }
      dl dl {
        margin-top: 4px;
      }
      dt {
        color: var(--ink-soft);
      }
      dd {
        margin: 0;
        min-width: 0;
        overflow-wrap: anywhere;
      }
      summary {
        cursor: pointer;
      }
      h3 {
        margin: 14px 0 6px;
        color: var(--ink-soft);
      }
      .acts {
        margin-top: 14px;
        gap: 8px;
      }
    `,
  ];
  @property({ attribute: false }) row!: TraceRow;

  private say(name: string): void {
    this.dispatchEvent(new CustomEvent(name));
  }

  protected override render(): TemplateResult {
    const { row } = this;
    const { step, start, end, first, point, open } = row;
    const details = (step.details ?? {}) as Readonly<Record<string, unknown>>;
    const { cost, firstMs: _first, ...rest } = details;
    return html`<section class="card" aria-label="Step: ${row.name}">
      <div class="row">
        <h2 class="grow">${row.name}</h2>
        ${row.bad ? html`<span class="badge bad">went wrong</span>` : open ? html`<span class="badge info">goes on</span>` : nothing}
        <button class="plain small icon" aria-label="Close" @click=${() => this.say("close")}>${icon("close", 16)}</button>
      </div>
      <p class="text">${row.text}</p>
      <dl>
        <dt>Began</dt>
        <dd title=${exactly(step.at)}>${new Date(step.at).toLocaleTimeString()}, after ${duration(start)}</dd>
        ${
          point
            ? nothing
            : html`<dt>Took</dt>
                <dd>${duration(end - start)}${open ? " so far" : ""}</dd>`
        }
        ${
          first === undefined
            ? nothing
            : html`<dt>${step.kind === "delivery" ? "Last attempt" : "First token"}</dt>
                <dd>after ${duration(first - start)}</dd>`
        }
        ${
          typeof cost === "number"
            ? html`<dt>Cost</dt>
                <dd>${money(cost)}</dd>`
            : nothing
        }
      </dl>
      ${
        Object.keys(rest).length === 0
          ? nothing
          : html`<h3>Details</h3>
              ${valueTree(rest)}`
      }
      <div class="row wrap acts">
        <button class="small" @click=${() => this.say("copy")}>${icon("copy", 14)} Copy as JSON</button>
        ${point ? nothing : html`<button class="small" @click=${() => this.say("zoom")}>${icon("search", 14)} Zoom to it</button>`}
      </div>
    </section>`;
  }
}
customElements.define("oc-step-panel", StepPanel);
