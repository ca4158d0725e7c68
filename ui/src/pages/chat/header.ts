import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { icon, type IconName } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/avatar.ts";
import type { Looks } from "../../parts/avatar-facts.ts";
import "../../parts/select.ts";
import { place } from "../../shell/router.ts";
import "./popup.ts";
import type { Popup } from "./popup.ts";
import type { SessionAction } from "./session-actions.ts";
import type { SessionRow } from "./sidebar-groups.ts";
import { t } from "../../words/words.ts";

/** What the header shows of a session. */
export interface HeaderFacts {
  readonly key: string;
  readonly title: string;
  /** Who answers. */
  readonly agent: Looks;
  /** One thing to know: who is talked with, and where. */
  readonly fact: string;
  /** Undefined when the session does not exist yet. */
  readonly row: SessionRow | undefined;
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
  readonly canExport: boolean;
}

const LEVELS: Readonly<Record<string, string>> = { off: t("off"), on: t("on"), full: t("full"), stream: t("while it is written") };

/** A conversation's name and settings. Says `action` (a SessionAction), `list` and `help`. */
export class ChatHeader extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        border-bottom: 1px solid var(--line);
        background: var(--paper);
      }
      header {
        display: flex;
        align-items: center;
        gap: 4px;
        min-height: var(--header);
        padding: 4px 12px 4px 20px;
      }
      header > oc-avatar {
        --avatar: 32px;
        margin-inline-end: 8px;
        border-radius: 8px;
      }
      .name {
        flex: 1;
        min-width: 0;
      }
      h1 {
        font-size: var(--type-row);
        line-height: 20px;
        min-width: 0;
      }
      h1 button {
        max-width: 100%;
        min-height: 22px;
        margin-inline-start: -6px;
        padding: 0 6px;
        font-size: inherit;
        font-weight: 600;
        line-height: 20px;
      }
      .fact {
        font-size: var(--type-small);
        line-height: 16px;
        color: var(--ink-faint);
      }
      .edit.edit {
        max-width: 420px;
        min-height: 28px;
      }
      .trace {
        color: var(--ink-soft);
        background: none;
        border-color: transparent;
        box-shadow: none;
      }
      .menu {
        display: grid;
        gap: 1px;
        width: 250px;
        max-width: 100%;
      }
      .menu button,
      .menu a {
        display: flex;
        align-items: center;
        justify-content: flex-start;
        gap: 10px;
        min-height: 34px;
        padding: 4px 8px;
        color: var(--ink);
        font-size: var(--type-row);
        text-decoration: none;
        border: 0;
        border-radius: var(--radius-small);
        background: none;
      }
      .menu a:hover {
        background: var(--hover);
      }
      .menu .danger {
        color: var(--bad);
      }
      .menu .level {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 10px;
        padding: 2px 8px;
      }
      hr {
        width: 100%;
        margin: 4px 0;
        border: 0;
        border-top: 1px solid var(--line);
      }
      @media (max-width: 720px) {
        header {
          padding: 4px 4px 4px 8px;
        }
        h1 button {
          min-height: 28px;
        }
        .trace span {
          display: none;
        }
        .menu {
          width: auto;
        }
      }
    `,
  ];
  @property({ attribute: false }) facts!: HeaderFacts;
  /** There is a list to be shown: it is folded, or a drawer. */
  @property({ type: Boolean }) unlisted = false;
  /** The name that is being changed: news of the session do not touch what is typed. */
  @state() private naming: string | undefined;
  private refused: string | undefined;
  @query(".menu-popup") private popup!: Popup;

  private tell(name: string): void {
    this.dispatchEvent(new CustomEvent(name));
  }

  private act(action: SessionAction): void {
    this.popup.fold();
    this.dispatchEvent(new CustomEvent("action", { detail: action }));
  }

  /** Opens the name for editing; with a name that was `refused`, when there is one. */
  async rename(refused?: string): Promise<void> {
    this.refused = refused;
    this.naming = refused ?? this.facts.title;
    await this.updateComplete;
    const input = this.renderRoot.querySelector<HTMLInputElement>(".edit");
    input?.focus();
    input?.select();
  }

  private named(event: Event): void {
    if (this.naming === undefined) return;
    const before = this.facts.title;
    this.naming = undefined;
    const label = (event.target as HTMLInputElement).value.trim();
    // Who leaves a refused name as it is does not try it again.
    const isGivenUp = event.type === "blur" && label === this.refused;
    if (label !== before && !isGivenUp) this.act({ do: "rename", label });
  }

  private nameKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Enter") this.named(event);
    else if (event.key === "Escape") {
      event.stopPropagation();
      this.naming = undefined;
    }
  }

  private name(): TemplateResult {
    const { title, fact, mayChange } = this.facts;
    return html`<div class="name">
      ${
        this.naming !== undefined
          ? html`<input
              class="edit"
              type="text"
              dir="auto"
              aria-label=${t("Name of the conversation")}
              maxlength="64"
              .value=${this.naming}
              @keydown=${this.nameKey}
              @blur=${this.named}
            />`
          : html`<h1 class="cut">
              ${
                mayChange
                  ? html`<button class="plain cut" title=${t("Rename")} aria-label=${t`${title}, rename`} @click=${() => void this.rename()}>
                      <span class="cut" dir="auto">${title}</span>
                    </button>`
                  : html`<span dir="auto">${title}</span>`
              }
            </h1>`
      }
      <p class="fact cut" dir="auto">${fact}</p>
    </div>`;
  }

  private item(name: IconName, text: string, action: SessionAction, options: { readonly off?: boolean; readonly danger?: boolean } = {}): TemplateResult {
    return html`<button class=${options.danger ? "danger" : ""} ?disabled=${options.off ?? false} @click=${() => this.act(action)}>
      ${icon(name, 16)} ${text}
    </button>`;
  }

  private level(label: string, field: "verboseLevel" | "reasoningLevel", words: readonly string[]): TemplateResult {
    const options = ["", ...words].map((value) => ({ value, label: value === "" ? t("default") : (LEVELS[value] ?? value) }));
    return html`<div class="level">
      <span aria-hidden="true">${label}</span>
      <oc-select
        label=${label}
        .value=${this.facts.row?.[field] ?? ""}
        .options=${options}
        ?disabled=${!this.facts.mayChange}
        @choose=${({ detail }: CustomEvent<string>) => this.act({ do: "set", change: { [field]: detail === "" ? null : detail } })}
      ></oc-select>
    </div>`;
  }

  private menu(): TemplateResult {
    const { row, mayChange, mayDelete, canExport } = this.facts;
    const none = row === undefined;
    return html`<oc-popup class="menu-popup" side="end" label=${t("More about this conversation")}>
      <span slot="face">${icon("more")}</span>
      <div class="menu">
        ${this.level(t("Show tools"), "verboseLevel", ["off", "on", "full"])} ${this.level(t("Show reasoning"), "reasoningLevel", ["off", "on", "stream"])}
        <hr />
        ${this.item("down", t("Compact history"), { do: "compact" }, { off: none || !mayChange })}
        ${this.item("download", t("Export as Markdown"), { do: "export", format: "markdown" }, { off: none || !canExport })}
        ${this.item("download", t("Export as HTML"), { do: "export", format: "html" }, { off: none || !canExport })}
        ${this.item("download", t("Export as JSON"), { do: "export", format: "json" }, { off: none || !canExport })}
        ${this.item("download", t("Export as JSON Lines"), { do: "export", format: "jsonl" }, { off: none || !canExport })}
        ${this.item("copy", t("Copy the session key"), { do: "copy-key" })}
        <button @click=${() => (this.popup.fold(), this.tell("help"))}>${icon("start", 16)} ${t("Keyboard shortcuts")}</button>
        <hr />
        ${this.item("retry", t("Reset"), { do: "reset" }, { off: none || !mayChange, danger: true })}
        ${this.item("trash", t("Delete"), { do: "delete" }, { off: none || !mayDelete, danger: true })}
      </div>
    </oc-popup>`;
  }

  protected override render(): TemplateResult {
    const { key, agent } = this.facts;
    return html`<header>
      ${
        this.unlisted
          ? html`<button class="icon plain" aria-label=${t("Show conversations")} title=${t("Conversations")} @click=${() => this.tell("list")}>
              ${icon("menu")}
            </button>`
          : nothing
      }
      <oc-avatar .looks=${agent}></oc-avatar>
      ${this.name()}
      <a class="button plain trace" href=${place("trace", [key])} title=${t("Open trace")}>${icon("trace", 16)}<span>${t("Trace")}</span></a>
      ${this.menu()}
    </header>`;
  }
}
customElements.define("oc-chat-header", ChatHeader);
