import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { Issue } from "./issues.ts";
import { t } from "../../words/words.ts";

const MOST = 50;

/** What is wrong and where. Says `jump` {issue}. */
export class IssuesList extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
        display: grid;
        gap: 4px;
        max-height: 30vh;
        overflow-y: auto;
      }
      li {
        display: flex;
        gap: 8px;
        align-items: baseline;
        font-size: var(--type-row);
      }
      li svg {
        flex: none;
        align-self: center;
        color: var(--warn);
      }
      li.bad svg {
        color: var(--bad);
      }
      li > span {
        min-width: 0;
        overflow-wrap: anywhere;
      }
      button.where {
        flex: 0 1 auto;
        min-width: 0;
        min-height: 0;
        padding: 0 6px;
        justify-content: flex-start;
        text-align: start;
        white-space: normal;
        overflow-wrap: anywhere;
        font: var(--type-ui)/1.7 var(--mono);
      }
      @media (max-width: 820px) {
        li {
          display: grid;
          grid-template-columns: auto 1fr;
        }
        li > span {
          grid-column: 2;
          padding-inline-start: 6px;
        }
      }
    `,
  ];
  @property({ attribute: false }) issues: readonly Issue[] = [];

  private where({ path, line }: Issue): string {
    const name = path === "" ? "file" : path;
    return line === undefined ? name : `${name}:${line}`;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.issues.length === 0) return nothing;
    return html`<section class="note ${this.issues.some(({ bad }) => bad) ? "bad" : "warn"}" aria-label=${t("Problems")} aria-live="polite">
      <ul>
        ${this.issues.slice(0, MOST).map(
          (issue) =>
            html`<li class=${issue.bad ? "bad" : ""}>
              ${icon("warn", 15)}
              <button class="where plain" title=${t("Go to setting")} @click=${() => this.dispatchEvent(new CustomEvent("jump", { detail: { issue } }))}>
                ${this.where(issue)}
              </button>
              <span>${issue.message}${issue.fix === undefined ? "" : html` <span class="soft">${issue.fix}</span>`}</span>
            </li>`,
        )}
      </ul>
      ${this.issues.length > MOST ? html`<p class="faint">${t`and ${plural(this.issues.length - MOST, t("more"), t("more"))}`}</p>` : nothing}
    </section>`;
  }
}
customElements.define("oc-config-issues", IssuesList);
