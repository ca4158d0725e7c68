import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import type { Issue } from "./issues.ts";
import { isWithin, valueAt } from "./model/path.ts";
import type { Section, SectionGroup } from "./model/sections.ts";
import { t } from "../../words/words.ts";

/** The sections of the configuration. Says `section` {key}. */
export class SectionsNav extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      h2 {
        padding: 10px 8px 2px;
        color: var(--ink-soft);
        font-size: var(--type-small);
        font-weight: 600;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 0;
      }
      li button {
        width: 100%;
        min-height: 30px;
        justify-content: flex-start;
        text-align: start;
        padding: 3px 8px;
        border: 0;
        background: none;
        box-shadow: none;
        color: var(--ink-soft);
      }
      li button:hover {
        background: var(--fill);
      }
      li button[aria-current="true"] {
        background: var(--selected);
        color: var(--ink);
        font-weight: 600;
      }
      .dot {
        width: 6px;
        height: 6px;
        border-radius: 50%;
        background: var(--info);
      }
      .phone {
        display: none;
      }
      @media (max-width: 820px) {
        nav {
          display: none;
        }
        .phone {
          display: block;
        }
      }
    `,
  ];
  @property({ attribute: false }) groups: readonly SectionGroup[] = [];
  @property() current = "";
  @property({ attribute: false }) value: unknown;
  @property({ attribute: false }) issues: readonly Issue[] = [];
  @property({ type: Boolean }) onlySet = false;

  private go(key: string): void {
    this.dispatchEvent(new CustomEvent("section", { detail: { key } }));
  }

  private isSet({ path }: Section): boolean {
    return valueAt(this.value, path) !== undefined;
  }

  private item(section: Section): TemplateResult {
    const wrong = this.issues.filter(({ path, bad }) => bad && isWithin(path, section.path)).length;
    return html`<li>
      <button aria-current=${section.key === this.current} title=${section.help ?? ""} @click=${() => this.go(section.key)}>
        <span class="grow cut">${section.label}</span>
        ${wrong > 0 ? html`<span class="badge bad">${wrong}</span>` : this.isSet(section) ? html`<span class="dot" title=${t("Has set values")}></span>` : nothing}
      </button>
    </li>`;
  }

  protected override render(): TemplateResult {
    const shown = this.groups
      .map(({ title, sections }) => ({ title, sections: sections.filter((section) => !this.onlySet || this.isSet(section)) }))
      .filter(({ sections }) => sections.length > 0);
    return html`<nav aria-label=${t("Sections")}>
        ${shown.map(
          ({ title, sections }) =>
            html`<h2>${title}</h2>
              <ul>
                ${sections.map((section) => this.item(section))}
              </ul>`,
        )}
      </nav>
      <oc-select
        block
        class="phone"
        label=${t("Section")}
        .value=${this.current}
        .options=${shown.flatMap(({ title, sections }) => sections.map(({ key, label }) => ({ value: key, label, group: title })))}
        @choose=${(event: CustomEvent<string>) => this.go(event.detail)}
      ></oc-select>`;
  }
}
customElements.define("oc-config-sections", SectionsNav);
