import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { icon, type IconName } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { float, floatLook } from "./float.ts";
import { createTypeahead } from "./typeahead.ts";

/** One entry of a menu: something to do, or a place to go to. Destructive entries come last, behind a line. */
export interface MenuEntry {
  readonly label: string;
  readonly icon?: IconName | undefined;
  /** The key that does the same elsewhere. */
  readonly keys?: string | undefined;
  readonly danger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly href?: string | undefined;
  readonly run?: (() => void) | undefined;
}

const look = css`
  :host {
    display: inline-flex;
    min-width: 0;
  }
  .split {
    border-start-end-radius: 0;
    border-end-end-radius: 0;
    border-inline-end: 0;
  }
  .split + button {
    width: var(--control);
    padding: 0;
    border-start-start-radius: 0;
    border-end-start-radius: 0;
  }
  .split.primary + button {
    color: var(--primary-ink);
    background: var(--primary);
    border-color: var(--primary);
    border-inline-start-color: color-mix(in srgb, var(--primary-ink) 30%, transparent);
  }
  .float {
    min-width: 200px;
  }
  [role="menuitem"] {
    display: flex;
    justify-content: flex-start;
    gap: 9px;
    width: 100%;
    min-height: 32px;
    padding: 0 8px;
    font-size: var(--type-ui);
    font-weight: 400;
    color: var(--ink);
    text-align: start;
    background: none;
    border: 0;
    border-radius: 6px;
    box-shadow: none;
    align-items: center;
    text-decoration: none;
    white-space: nowrap;
  }
  [role="menuitem"]:hover:not(:disabled),
  [role="menuitem"]:focus {
    background: var(--fill-strong);
    outline-offset: -2px;
  }
  [role="menuitem"] svg {
    color: var(--ink-faint);
  }
  .danger,
  .danger svg {
    color: var(--bad);
  }
  kbd {
    margin-inline-start: auto;
  }
  hr {
    margin: 5px -5px;
    border: 0;
    border-top: 1px solid var(--line);
  }
  @media (max-width: 760px) {
    [role="menuitem"] {
      min-height: 44px;
      font-size: var(--type-reading);
    }
  }
`;

/** A button that opens a menu. With `split`, a button that does `action` and a second one beside it for the menu. */
export class MenuButton extends LitElement {
  static override styles = [sheet, floatLook, look];
  /** What the button is called; without a `face` in its slot it is three dots. */
  @property() label = "";
  @property({ attribute: false }) entries: readonly MenuEntry[] = [];
  /** What the first button of a split one does. */
  @property({ attribute: false }) split: { readonly label: string; readonly run: () => void; readonly icon?: IconName } | undefined;
  /** How the button looks; a square without a frame, unless said otherwise. */
  @property() kind: "square" | "plain" | "button" | "primary" = "square";
  @property() side: "start" | "end" = "end";
  @property({ type: Boolean }) disabled = false;
  @state() private shown = false;
  @query("#face") private face!: HTMLButtonElement;
  @query(".float") private panel!: HTMLElement | null;
  private readonly ahead = createTypeahead();
  private floating: Disposable | undefined;
  private first: "first" | "last" = "first";

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.fold(false);
  }

  protected override updated(): void {
    if (!this.shown || this.floating || !this.panel) return;
    this.floating = float(this.panel, this.face, { side: this.side, outside: () => this.fold(false) });
    this.items.at(this.first === "first" ? 0 : -1)?.focus();
  }

  private get items(): readonly HTMLElement[] {
    return [...(this.panel?.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)') ?? [])];
  }

  private unfold(first: "first" | "last" = "first"): void {
    this.first = first;
    this.shown = true;
  }

  private fold(back: boolean): void {
    this.floating?.[Symbol.dispose]();
    this.floating = undefined;
    if (this.shown && back) this.face.focus();
    this.shown = false;
  }

  private faceKey(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    event.stopPropagation();
    this.unfold(event.key === "ArrowDown" ? "first" : "last");
  }

  private key(event: KeyboardEvent): void {
    const { items } = this;
    const at = items.indexOf(event.target as HTMLElement);
    const { key } = event;
    if (key === "Tab") return this.fold(true);
    if (key === "Escape") this.fold(true);
    else if (key === "ArrowDown") items[(at + 1) % items.length]?.focus();
    else if (key === "ArrowUp") items[(at + items.length - 1) % items.length]?.focus();
    else if (key === "Home") items[0]?.focus();
    else if (key === "End") items.at(-1)?.focus();
    else if (key.length === 1 && key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const found = this.ahead.find(
        key,
        items.map(({ textContent }) => textContent.trim()),
        Math.max(0, at),
      );
      if (found !== undefined) items[found]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private take(entry: MenuEntry): void {
    this.fold(true);
    entry.run?.();
  }

  private entry(entry: MenuEntry, at: number): TemplateResult {
    const content = html`${entry.icon ? icon(entry.icon, 16) : nothing}<span>${entry.label}</span>${entry.keys ? html`<kbd>${entry.keys}</kbd>` : nothing}`;
    const line = entry.danger && at > 0 && !this.entries[at - 1]?.danger ? html`<hr />` : nothing;
    return entry.href === undefined
      ? html`${line}<button
            type="button"
            role="menuitem"
            tabindex="-1"
            class=${entry.danger ? "danger" : ""}
            ?disabled=${entry.disabled ?? false}
            @click=${() => this.take(entry)}
          >
            ${content}
          </button>`
      : html`${line}<a role="menuitem" tabindex="-1" href=${entry.href} @click=${() => this.take(entry)}>${content}</a>`;
  }

  protected override render(): TemplateResult {
    const { split } = this;
    return html`${
        split
          ? html`<button type="button" class="split ${this.kind === "primary" ? "primary" : ""}" ?disabled=${this.disabled} @click=${() => split.run()}>
              ${split.icon ? icon(split.icon, 16) : nothing}${split.label}
            </button>`
          : nothing
      }<button
        id="face"
        type="button"
        class=${split || this.kind === "button" ? "" : this.kind === "square" ? "plain icon" : this.kind}
        aria-label=${this.label}
        title=${this.label}
        aria-haspopup="menu"
        aria-expanded=${this.shown}
        ?disabled=${this.disabled}
        @click=${() => (this.shown ? this.fold(true) : this.unfold())}
        @keydown=${this.faceKey}
      >
        ${split ? icon("down", 16) : html`<slot name="face">${icon("more", 16)}</slot>`}
      </button>
      ${
        this.shown
          ? html`<div class="float sheet" popover="manual" role="menu" aria-label=${this.label} @keydown=${this.key}>
              ${this.entries.map((entry, at) => this.entry(entry, at))}
            </div>`
          : nothing
      }`;
  }
}
customElements.define("oc-menu-button", MenuButton);
