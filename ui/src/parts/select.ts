import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { icon, type IconName } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { float, floatLook } from "./float.ts";
import { createTypeahead } from "./typeahead.ts";

/** One choice of a select. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  /** A fact about it, behind the label. */
  readonly hint?: string | undefined;
  /** The heading it stands below; choices of a group follow each other. */
  readonly group?: string | undefined;
  readonly icon?: IconName | undefined;
  readonly disabled?: boolean | undefined;
}

const look = css`
  :host {
    display: inline-block;
    min-width: 0;
    max-width: 100%;
  }
  :host([block]) {
    display: block;
  }
  button.face {
    justify-content: flex-start;
    gap: 6px;
    width: 100%;
    padding: 4px 8px 4px 10px;
  }
  button.face .word {
    flex: 1;
    min-width: 0;
    text-align: start;
  }
  button.face > svg:last-child {
    flex: none;
    color: var(--ink-faint);
  }
  :host([ghost]) button.face {
    background: none;
    border-color: transparent;
    box-shadow: none;
    color: var(--ink-soft);
  }
  :host([ghost]) button.face:hover {
    background: var(--fill);
    color: var(--ink);
  }
  button.face:hover:not(:disabled) {
    background: var(--raised);
    border-color: var(--ink-faint);
  }
  button.face[aria-expanded="true"] {
    border-color: var(--accent);
  }
  button.face[aria-invalid="true"] {
    border-color: var(--bad-solid);
  }
  ul {
    list-style: none;
  }
  li {
    display: flex;
    align-items: center;
    gap: 9px;
    min-height: 32px;
    padding: 4px 8px;
    font-size: var(--type-ui);
    line-height: 18px;
    border-radius: 6px;
    cursor: pointer;
  }
  li.heading {
    min-height: 0;
    padding: 8px 8px 4px;
    font-size: var(--type-small);
    color: var(--ink-faint);
    cursor: default;
  }
  li.active {
    background: var(--fill-strong);
  }
  li[aria-disabled="true"] {
    color: var(--ink-faint);
    cursor: not-allowed;
  }
  li .tick {
    flex: none;
    display: grid;
    width: 14px;
  }
  li .hint {
    margin-inline-start: auto;
    padding-inline-start: 12px;
    font-size: var(--type-small);
    color: var(--ink-soft);
    white-space: nowrap;
  }
  @media (max-width: 760px) {
    button.face {
      font-size: var(--type-reading);
    }
    li {
      min-height: 44px;
      font-size: var(--type-reading);
    }
  }
`;

/** A choice out of a list: a button that opens a listbox. Sends `choose` with the value. Its value is part of the form around it, by `name`. */
export class Select extends LitElement {
  static override styles = [sheet, floatLook, look];
  static override shadowRootOptions: ShadowRootInit = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  static readonly formAssociated = true;
  /** What the choice is about. */
  @property() label = "";
  @property() value = "";
  @property({ attribute: false }) options: readonly Choice[] = [];
  /** Shown while nothing of the options is chosen. */
  @property() placeholder = "";
  /** Before the chosen label, such as "Agent:". */
  @property() lead = "";
  @property({ type: Boolean }) disabled = false;
  @property({ type: Boolean, reflect: true }) invalid = false;
  /** What is wrong with the choice, or a word about it. */
  @property() description = "";
  /** Without a frame, for bars. */
  @property({ type: Boolean, reflect: true }) ghost = false;
  /** As wide as what it stands in. */
  @property({ type: Boolean, reflect: true }) block = false;
  @property() name = "";
  @state() private shown = false;
  @state() private active = -1;
  @query("button") private face!: HTMLButtonElement;
  @query("ul") private list!: HTMLElement | null;
  private readonly internals = this.attachInternals();
  private readonly ahead = createTypeahead();
  private floating: Disposable | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.fold();
  }

  private get at(): number {
    return this.options.findIndex(({ value }) => value === this.value);
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("value")) this.internals.setFormValue(this.value);
    if (this.shown && !this.floating && this.list) {
      this.floating = float(this.list, this.face, { wide: true, outside: () => this.fold() });
    }
    if (this.shown) this.list?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }

  private unfold(active = this.at): void {
    if (this.disabled || this.options.length === 0) return;
    this.active = active < 0 ? this.step(-1, 1) : active;
    this.shown = true;
  }

  private fold(): void {
    this.floating?.[Symbol.dispose]();
    this.floating = undefined;
    this.shown = false;
  }

  private choose(at: number): void {
    const option = this.options[at];
    if (!option || option.disabled) return;
    this.fold();
    this.face.focus();
    if (option.value === this.value) return;
    this.value = option.value;
    this.dispatchEvent(new CustomEvent<string>("choose", { detail: option.value, bubbles: true, composed: true }));
  }

  /** The next choice that can be taken, in one direction; where there is none, the same. */
  private step(from: number, by: 1 | -1): number {
    for (let at = from + by; at >= 0 && at < this.options.length; at += by) if (!this.options[at]?.disabled) return at;
    return from;
  }

  private readonly move: Readonly<Record<string, () => number>> = {
    ArrowDown: () => this.step(this.active, 1),
    ArrowUp: () => this.step(this.active, -1),
    PageDown: () => this.step(Math.min(this.options.length - 1, this.active + 9), 1),
    PageUp: () => this.step(Math.max(0, this.active - 9), -1),
    Home: () => this.step(-1, 1),
    End: () => this.step(this.options.length, -1),
  };

  private key(event: KeyboardEvent): void {
    const { key } = event;
    if (key === "Tab" && this.shown) return this.choose(this.active);
    if (key === "Escape" && this.shown) this.fold();
    else if (key === "Enter" || key === " ") {
      if (this.shown) this.choose(this.active);
      else this.unfold();
    } else if (key in this.move) {
      if (this.shown) this.active = this.move[key]!();
      else if (key === "Home" || key === "End") {
        this.unfold();
        this.active = this.move[key]!();
      } else this.unfold();
    } else if (key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const labels = this.options.map(({ label }) => label);
      const found = this.ahead.find(key, labels, Math.max(0, this.shown ? this.active : this.at));
      if (!this.shown) this.unfold();
      if (found !== undefined && !this.options[found]?.disabled) this.active = found;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private option(option: Choice, at: number): TemplateResult {
    const isNewGroup = option.group !== undefined && option.group !== this.options[at - 1]?.group;
    return html`${isNewGroup ? html`<li class="heading" role="presentation">${option.group}</li>` : nothing}
      <li
        id="option-${at}"
        role="option"
        data-value=${option.value}
        class=${at === this.active ? "active" : ""}
        aria-selected=${option.value === this.value}
        aria-disabled=${option.disabled ? "true" : nothing}
        @pointermove=${() => option.disabled || (this.active = at)}
        @click=${() => this.choose(at)}
      >
        <span class="tick">${option.value === this.value ? icon("check", 14) : nothing}</span>
        ${option.icon ? icon(option.icon, 16) : nothing}<span>${option.label}</span>${option.hint ? html`<span class="hint">${option.hint}</span>` : nothing}
      </li>`;
  }

  protected override render(): TemplateResult {
    const chosen = this.options[this.at];
    const lead = this.lead === "" ? "" : `${this.lead} `;
    return html`<button
        class="face"
        type="button"
        role="combobox"
        aria-haspopup="listbox"
        aria-label=${this.label}
        aria-expanded=${this.shown}
        aria-controls=${this.shown ? "list" : nothing}
        aria-activedescendant=${this.shown && this.active >= 0 ? `option-${this.active}` : nothing}
        aria-invalid=${this.invalid ? "true" : nothing}
        aria-description=${this.description === "" ? nothing : this.description}
        ?disabled=${this.disabled}
        @click=${() => (this.shown ? this.fold() : this.unfold())}
        @keydown=${this.key}
      >
        ${chosen?.icon ? icon(chosen.icon, 16) : nothing}<span class="word cut">${lead}${chosen?.label ?? this.placeholder}</span>${icon("down", 14)}
      </button>
      ${
        this.shown
          ? html`<ul
              id="list"
              class="float sheet"
              popover="manual"
              role="listbox"
              aria-label=${this.label}
              @pointerdown=${(event: Event) => event.preventDefault()}
            >
              ${this.options.map((option, at) => this.option(option, at))}
            </ul>`
          : nothing
      }`;
  }
}
customElements.define("oc-select", Select);
