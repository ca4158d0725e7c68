import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { tokens } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/select.ts";
import { place } from "../../shell/router.ts";
import { modelsWith, type ModelChoice } from "./pickers-models.ts";
import "./popup.ts";
import type { Popup } from "./popup.ts";
import { locale, t } from "../../words/words.ts";

/** More are found by typing. */
const SHOWN = 80;

/** Which model answers in a session. Says `unfold` when its list is needed and `choose` {ref} (undefined: as configured). */
export class ModelPicker extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: inline-block;
        min-width: 0;
      }
      oc-popup {
        max-width: 100%;
      }
      .face {
        display: inline-flex;
        align-items: center;
        gap: 4px;
        min-width: 0;
      }
      .name {
        max-width: 190px;
      }
      .list {
        width: 360px;
        max-width: 100%;
      }
      :host([setting]) .list {
        width: 290px;
      }
      ul {
        list-style: none;
        margin: 6px 0 0;
        padding: 0;
        max-height: min(50vh, 380px);
        overflow-y: auto;
      }
      li {
        display: grid;
        grid-template-columns: 18px 1fr auto;
        gap: 2px 6px;
        align-items: center;
        padding: 6px 8px;
        border-radius: var(--radius-small);
        cursor: pointer;
        font-size: var(--type-row);
      }
      li[aria-selected="true"] {
        background: var(--selected);
      }
      li .faint {
        grid-column: 2;
        color: var(--ink-soft);
        font-size: var(--type-small);
        overflow-wrap: anywhere;
      }
      li.keyless {
        color: var(--ink-soft);
      }
      .mark {
        grid-row: 1 / 3;
        align-self: start;
        padding-top: 2px;
        color: var(--accent-text);
      }
      .foot {
        padding: 8px;
        font-size: var(--type-ui);
      }
      @media (max-width: 720px) {
        .list,
        :host([setting]) .list {
          width: auto;
        }
        .name {
          max-width: 40vw;
        }
      }
    `,
  ];
  /** Undefined while they are loaded. */
  @property({ attribute: false }) choices: readonly ModelChoice[] | undefined;
  @property() current = "";
  /** Why they did not come. */
  @property() error = "";
  @property({ type: Boolean }) disabled = false;
  /** It is a setting among others on a page, not in a header: the list keeps to its start, and a model that was chosen here can be given back. */
  @property({ type: Boolean, reflect: true }) setting = false;
  /** Its list opens above it. */
  @property({ type: Boolean }) up = false;
  @state() private words = "";
  @state() private at = 0;

  private get all(): readonly ModelChoice[] {
    return modelsWith(this.choices ?? [], this.words);
  }

  private get found(): readonly ModelChoice[] {
    return this.all.slice(0, SHOWN);
  }

  private choose(choice: ModelChoice | undefined): void {
    if (choice) this.say(choice.ref);
  }

  private say(ref: string | undefined): void {
    this.renderRoot.querySelector<Popup>("oc-popup")?.fold();
    this.dispatchEvent(new CustomEvent("choose", { detail: { ref } }));
  }

  private key(event: KeyboardEvent): void {
    const { length } = this.found;
    if (event.key === "ArrowDown") this.at = (this.at + 1) % Math.max(1, length);
    else if (event.key === "ArrowUp") this.at = (this.at + length - 1) % Math.max(1, length);
    else if (event.key === "Enter") this.choose(this.found[this.at]);
    else return;
    event.preventDefault();
  }

  private async unfold(): Promise<void> {
    this.words = "";
    this.at = 0;
    this.dispatchEvent(new CustomEvent("unfold"));
    await this.updateComplete;
    this.renderRoot.querySelector("input")?.focus();
  }

  protected override updated(): void {
    this.renderRoot.querySelector('li[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private option(choice: ModelChoice, at: number): TemplateResult {
    const facts = [
      choice.provider,
      choice.contextWindow === undefined ? undefined : t`${tokens(choice.contextWindow)} context`,
      choice.reasoning ? t("thinks") : undefined,
    ].filter(Boolean);
    return html`<li
      id="model-${at}"
      role="option"
      aria-selected=${at === this.at}
      class=${choice.hasKey === false ? "keyless" : ""}
      @click=${() => this.choose(choice)}
    >
      <span class="mark">${choice.ref === this.current ? icon("check", 16) : nothing}</span>
      <span class="cut">${choice.name}</span>
      ${choice.hasKey === undefined ? html`<span></span>` : html`<span class="badge ${choice.hasKey ? "good" : ""}">${choice.hasKey ? t("Has a key") : t("No key")}</span>`}
      <span class="faint">${facts.join(" · ")}</span>
    </li>`;
  }

  private panel(): TemplateResult {
    if (this.error !== "") return html`<p class="foot">${t`Could not load models: ${this.error}`}</p>`;
    if (this.choices === undefined) return html`<p class="foot soft" role="status">${t("Loading…")}</p>`;
    const { found } = this;
    const left = this.all.length - found.length;
    return html`<ul id="models" role="listbox" aria-label=${t("Models")}>
        ${found.map((choice, at) => this.option(choice, at))}
      </ul>
      ${found.length === 0 ? html`<p class="foot soft" role="status">${t("No matching models")}</p>` : nothing}
      ${left > 0 ? html`<p class="foot faint" role="status">${t`${left.toLocaleString(locale)} more. Type to search.`}</p>` : nothing}
      ${this.setting ? html`<p class="foot"><button class="small" @click=${() => this.say(undefined)}>${t("Reset to default")}</button></p>` : nothing}
      <p class="foot faint">${t("For this conversation only.")} <a href=${place("start", [], { step: "key" })}>${t("Add a key")}</a></p>`;
  }

  protected override render(): TemplateResult {
    const name = this.current.slice(this.current.indexOf("/") + 1) || t("no model");
    return html`<oc-popup
      side=${this.setting || this.up ? "start" : "end"}
      ?low=${this.setting}
      ?up=${this.up}
      label=${t`Model: ${this.current || t("no model")}`}
      ?disabled=${this.disabled}
      @unfold=${this.unfold}
    >
      <span slot="face" class="face"><span class="name cut">${name}</span>${icon("down", 14)}</span>
      <div class="list">
        <input
          type="text"
          role="combobox"
          aria-label=${t("Search models")}
          aria-expanded="true"
          aria-controls="models"
          aria-activedescendant="model-${this.at}"
          placeholder=${t("Search models")}
          .value=${this.words}
          @input=${(event: InputEvent) => {
            this.words = (event.target as HTMLInputElement).value;
            this.at = 0;
          }}
          @keydown=${this.key}
        />
        ${this.panel()}
      </div>
    </oc-popup>`;
  }
}
customElements.define("oc-model-picker", ModelPicker);

const LEVELS: readonly (readonly [level: string, word: string])[] = [
  ["", t("default")],
  ["off", t("off")],
  ["minimal", t("minimal")],
  ["low", t("low")],
  ["medium", t("medium")],
  ["high", t("high")],
  ["xhigh", t("extra high")],
];

/** How much the model thinks. Says `choose` {level}, null for what the configuration says. */
export class ThinkingPicker extends LitElement {
  static override styles = [sheet];
  static override shadowRootOptions: ShadowRootInit = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  @property() level = "";
  @property({ type: Boolean }) disabled = false;

  private choose(event: CustomEvent<string>): void {
    event.stopPropagation();
    this.dispatchEvent(new CustomEvent("choose", { detail: { level: event.detail === "" ? null : event.detail } }));
  }

  protected override render(): TemplateResult {
    return html`<oc-select
      ghost
      label=${t("Thinking")}
      lead=${t("Thinking:")}
      .value=${this.level}
      .options=${LEVELS.map(([value, label]) => ({ value, label }))}
      ?disabled=${this.disabled}
      @choose=${this.choose}
    ></oc-select>`;
  }
}
customElements.define("oc-thinking-picker", ThinkingPicker);
