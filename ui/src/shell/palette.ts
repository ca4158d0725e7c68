import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { icon } from "../look/icons.ts";
import { dialogSheet } from "../look/dialog-sheet.ts";
import { sheet } from "../look/sheet.ts";
import type { PageContext } from "./context.ts";
import { PAGES } from "./pages.ts";
import { place } from "./router.ts";

interface Choice {
  readonly label: string;
  readonly hint: string;
  readonly place: string;
}

/** Ctrl+K: go anywhere by typing. Pages first, then sessions. */
export class Palette extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    css`
      dialog {
        width: min(560px, calc(100vw - 32px));
        margin-top: 12vh;
        padding: 0;
      }
      input:not([type="checkbox"]) {
        border: 0;
        border-bottom: 1px solid var(--line);
        border-radius: 0;
        padding: 12px 16px;
        font-size: 16px;
      }
      input:focus-visible {
        outline: none;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 6px;
        max-height: 46vh;
        overflow-y: auto;
      }
      li {
        display: flex;
        gap: 10px;
        padding: 7px 10px;
        border-radius: var(--radius-small);
        cursor: pointer;
      }
      li[aria-selected="true"] {
        background: var(--accent-soft);
      }
      li[aria-selected="true"] .faint {
        color: var(--ink-soft);
      }
    `,
  ];
  context!: PageContext;
  @state() private shown = false;
  @state() private words = "";
  @state() private at = 0;
  @state() private sessions: readonly Choice[] = [];
  private readonly onKey = (event: KeyboardEvent): void => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    void this.open();
  };

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", this.onKey);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", this.onKey);
  }

  private async open(): Promise<void> {
    this.words = "";
    this.at = 0;
    this.shown = true;
    try {
      const { sessions } = await this.context.link.request("sessions.list", { limit: 200, includeDerivedTitles: true });
      this.sessions = sessions.map((row) => ({
        label: row["label"] ?? row["derivedTitle"] ?? row.key,
        hint: row.key,
        place: place("chat", [row.key]),
      }));
    } catch {
      this.sessions = [];
    }
  }

  protected override updated(): void {
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
  }

  private get choices(): readonly Choice[] {
    const pages = PAGES.map(({ title, path }) => ({ label: title, hint: "page", place: place(path) }));
    const wanted = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    return [...pages, ...this.sessions].filter(({ label, hint }) => wanted.every((word) => `${label} ${hint}`.toLowerCase().includes(word))).slice(0, 40);
  }

  private choose(choice: Choice | undefined): void {
    this.shown = false;
    if (choice) this.context.router.go(choice.place);
  }

  private key(event: KeyboardEvent): void {
    const { length } = this.choices;
    if (event.key === "ArrowDown") this.at = (this.at + 1) % Math.max(1, length);
    else if (event.key === "ArrowUp") this.at = (this.at + length - 1) % Math.max(1, length);
    else if (event.key === "Enter") this.choose(this.choices[this.at]);
    else return;
    event.preventDefault();
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.shown) return nothing;
    return html`<dialog aria-label="Go to" @close=${() => (this.shown = false)}>
      <input
        type="text"
        placeholder="Go to a page or a session"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant="choice-${this.at}"
        autofocus
        .value=${this.words}
        @input=${(event: InputEvent) => {
          this.words = (event.target as HTMLInputElement).value;
          this.at = 0;
        }}
        @keydown=${this.key}
      />
      <ul id="choices" role="listbox" aria-label="Places">
        ${this.choices.map(
          (choice, at) =>
            html`<li id="choice-${at}" role="option" aria-selected=${at === this.at} @click=${() => this.choose(choice)}>
              ${icon(choice.hint === "page" ? "right" : "chat", 16)}<span class="grow cut">${choice.label}</span><span class="faint cut">${choice.hint}</span>
            </li>`,
        )}
      </ul>
    </dialog>`;
  }
}
customElements.define("oc-palette", Palette);
