import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { sessionName } from "openclaw/client";
import { plural } from "../base/figures.ts";
import { icon } from "../look/icons.ts";
import { dialogSheet } from "../look/dialog-sheet.ts";
import { sheet } from "../look/sheet.ts";
import type { PageContext } from "./context.ts";
import { PAGES } from "./pages.ts";
import { place } from "./router.ts";

/** Sessions that are shown at once. */
const MOST = 30;
const TYPING_MS = 150;

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
        background: var(--hover);
      }
      .foot {
        padding: 8px 16px 12px;
        font-size: 13px;
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
  /** So many sessions fit beyond those that are shown. */
  @state() private more = 0;
  /** The words that `sessions` were found for. */
  private foundFor = "";
  private asked = 0;
  private rest: ReturnType<typeof setTimeout> | undefined;
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

  async open(): Promise<void> {
    this.words = "";
    this.at = 0;
    this.shown = true;
    await this.find();
  }

  /** Asks the gateway, which looks through all sessions. */
  private async find(): Promise<void> {
    clearTimeout(this.rest);
    const mine = (this.asked += 1);
    const search = this.words.trim();
    const answer = await this.context.link
      .request("sessions.list", { limit: MOST, includeDerivedTitles: true, includeGlobal: true, ...(search === "" ? { automation: false } : { search }) })
      .catch(() => undefined);
    if (mine !== this.asked) return;
    this.foundFor = search;
    this.sessions = answer?.sessions.map((row) => ({ label: row.name ?? sessionName(row), hint: row.key, place: place("chat", [row.key]) })) ?? [];
    this.more = Math.max(0, (answer?.total ?? 0) - this.sessions.length);
  }

  protected override updated(): void {
    const dialog = this.renderRoot.querySelector("dialog");
    if (dialog && !dialog.open) dialog.showModal();
    this.renderRoot.querySelector('li[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private get choices(): readonly Choice[] {
    const wanted = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    const pages = PAGES.map(({ title, path }) => ({ label: title, hint: "page", place: place(path) }));
    const has = ({ label, hint }: Choice): boolean => wanted.every((word) => `${label} ${hint}`.toLowerCase().includes(word));
    // Until the gateway has answered for these words, what fits of its last answer.
    return [...pages.filter(has), ...(this.foundFor === this.words.trim() ? this.sessions : this.sessions.filter(has))];
  }

  private typed(event: InputEvent): void {
    this.words = (event.target as HTMLInputElement).value;
    this.at = 0;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => void this.find(), TYPING_MS);
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
        placeholder="Search pages and chats"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant="choice-${this.at}"
        autofocus
        .value=${this.words}
        @input=${this.typed}
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
      ${this.choices.length === 0 ? html`<p class="foot soft" role="status">No results</p>` : nothing}
      ${this.more > 0 ? html`<p class="foot faint" role="status">${plural(this.more, "more session")}: type to find them.</p>` : nothing}
    </dialog>`;
  }
}
customElements.define("oc-palette", Palette);
