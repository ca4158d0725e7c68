import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, query, state } from "lit/decorators.js";
import { icon, type IconName } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import "./meter.ts";
import type { ContextAnswer } from "./meter-parts.ts";
import "./pickers.ts";
import type { ModelChoice } from "./pickers-models.ts";
import "./popup.ts";
import type { Popup } from "./popup.ts";
import type { SessionAction } from "./session-actions.ts";
import type { SessionRow } from "./sidebar-groups.ts";

/** What the header shows of a session. */
export interface HeaderFacts {
  readonly key: string;
  readonly title: string;
  readonly agent: string;
  /** Undefined when the session does not exist yet. */
  readonly row: SessionRow | undefined;
  /** `provider/model` */
  readonly model: string;
  readonly total: number | undefined;
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
  readonly canExport: boolean;
}

/** A conversation's name and settings. Says `action` (a SessionAction), `models`, `context` (they are needed), `list` and `help`. */
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
        gap: 4px 8px;
        min-height: 52px;
        padding: 8px 12px;
      }
      .name {
        display: flex;
        align-items: center;
        gap: 8px;
        flex: 1;
        min-width: 0;
      }
      h1 {
        font-size: 15.5px;
        min-width: 0;
      }
      h1 button {
        max-width: 100%;
        padding: 2px 6px;
        font-size: inherit;
        font-weight: 650;
      }
      .edit {
        max-width: 420px;
      }
      .tools {
        display: flex;
        align-items: center;
        gap: 2px;
        min-width: 0;
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
        font-size: 14px;
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
      .menu label {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 10px;
        padding: 2px 8px;
      }
      .menu select {
        width: auto;
        min-height: 30px;
        padding: 2px 6px;
      }
      hr {
        width: 100%;
        margin: 4px 0;
        border: 0;
        border-top: 1px solid var(--line);
      }
      @media (max-width: 720px) {
        header {
          flex-wrap: wrap;
          padding: 6px 8px;
        }
        .tools {
          flex-basis: 100%;
          order: 3;
        }
        .tools oc-context-meter {
          margin-inline-start: auto;
        }
        .agent {
          display: none;
        }
        .menu {
          width: auto;
        }
      }
    `,
  ];
  @property({ attribute: false }) facts!: HeaderFacts;
  @property({ attribute: false }) models: readonly ModelChoice[] | undefined;
  @property() modelsError = "";
  @property({ attribute: false }) memory: ContextAnswer | undefined;
  @property() memoryError = "";
  @property({ type: Boolean }) compacting = false;
  /** There is a list to be shown: it is folded, or a drawer. */
  @property({ type: Boolean }) unlisted = false;
  /** The name that is being changed: news of the session do not touch what is typed. */
  @state() private naming: string | undefined;
  @query(".menu-popup") private popup!: Popup;

  private tell(name: string): void {
    this.dispatchEvent(new CustomEvent(name));
  }

  private act(action: SessionAction): void {
    this.popup.fold();
    this.dispatchEvent(new CustomEvent("action", { detail: action }));
  }

  private async rename(): Promise<void> {
    this.naming = this.facts.title;
    await this.updateComplete;
    const input = this.renderRoot.querySelector<HTMLInputElement>(".edit");
    input?.focus();
    input?.select();
  }

  private named(event: Event): void {
    const before = this.naming;
    if (before === undefined) return;
    this.naming = undefined;
    const label = (event.target as HTMLInputElement).value.trim();
    if (label !== before) this.act({ do: "rename", label });
  }

  private nameKey(event: KeyboardEvent): void {
    if (event.key === "Enter") this.named(event);
    else if (event.key === "Escape") {
      event.stopPropagation();
      this.naming = undefined;
    }
  }

  private name(): TemplateResult {
    const { title, agent, mayChange } = this.facts;
    return html`<div class="name">
      ${
        this.naming !== undefined
          ? html`<input
              class="edit"
              type="text"
              dir="auto"
              aria-label="Name of the conversation"
              maxlength="64"
              .value=${this.naming}
              @keydown=${this.nameKey}
              @blur=${this.named}
            />`
          : html`<h1 class="cut">
              ${
                mayChange
                  ? html`<button class="plain cut" title="Rename" aria-label="${title}, rename" @click=${this.rename}>
                      <span class="cut" dir="auto">${title}</span>
                    </button>`
                  : html`<span dir="auto">${title}</span>`
              }
            </h1>`
      }
      <span class="badge agent" title="The agent that answers">${agent}</span>
    </div>`;
  }

  private item(name: IconName, text: string, action: SessionAction, options: { readonly off?: boolean; readonly danger?: boolean } = {}): TemplateResult {
    return html`<button class=${options.danger ? "danger" : ""} ?disabled=${options.off ?? false} @click=${() => this.act(action)}>
      ${icon(name, 16)} ${text}
    </button>`;
  }

  private toggle(text: string, field: "verboseLevel" | "reasoningLevel", words: readonly string[]): TemplateResult {
    const now = this.facts.row?.[field] ?? "";
    const change = (event: Event): void => {
      const { value } = event.target as HTMLSelectElement;
      this.act({ do: "set", change: { [field]: value === "" ? null : value } });
    };
    return html`<label
      >${text}
      <select ?disabled=${!this.facts.mayChange} @change=${change}>
        ${["", ...words].map((word) => html`<option value=${word} ?selected=${word === now}>${word === "" ? "as configured" : word}</option>`)}
      </select></label
    >`;
  }

  private menu(): TemplateResult {
    const { key, row, mayChange, mayDelete, canExport } = this.facts;
    const none = row === undefined;
    return html`<oc-popup class="menu-popup" side="end" label="More about this conversation">
      <span slot="face">${icon("more")}</span>
      <div class="menu">
        ${this.toggle("Show tools", "verboseLevel", ["off", "on", "full"])} ${this.toggle("Show reasoning", "reasoningLevel", ["off", "on", "stream"])}
        <hr />
        ${this.item("down", "Sum up older messages", { do: "compact" }, { off: none || !mayChange })}
        <a href=${place("trace", [key])}>${icon("trace", 16)} Open the trace</a>
        ${this.item("download", "Export as Markdown", { do: "export", format: "markdown" }, { off: none || !canExport })}
        ${this.item("download", "Export as JSON lines", { do: "export", format: "jsonl" }, { off: none || !canExport })}
        ${this.item("copy", "Copy the session key", { do: "copy-key" })}
        <button @click=${() => (this.popup.fold(), this.tell("help"))}>${icon("start", 16)} Keyboard shortcuts</button>
        <hr />
        ${this.item("retry", "Reset", { do: "reset" }, { off: none || !mayChange, danger: true })}
        ${this.item("trash", "Delete", { do: "delete" }, { off: none || !mayDelete, danger: true })}
      </div>
    </oc-popup>`;
  }

  protected override render(): TemplateResult {
    const { row, model, total, mayChange } = this.facts;
    return html`<header>
      ${
        this.unlisted
          ? html`<button class="icon plain" aria-label="Show conversations" title="Conversations" @click=${() => this.tell("list")}>${icon("menu")}</button>`
          : nothing
      }
      ${this.name()}
      <div class="tools">
        <oc-model-picker
          .current=${model}
          .choices=${this.models}
          .error=${this.modelsError}
          ?disabled=${!mayChange}
          @unfold=${() => this.tell("models")}
          @choose=${({ detail }: CustomEvent<{ ref: string }>) => this.act({ do: "set", change: { model: detail.ref } })}
        ></oc-model-picker>
        <oc-thinking-picker
          .level=${row?.thinkingLevel ?? ""}
          ?disabled=${!mayChange}
          @choose=${({ detail }: CustomEvent<{ level: string | null }>) => this.act({ do: "set", change: { thinkingLevel: detail.level } })}
        ></oc-thinking-picker>
        <oc-context-meter
          .used=${row?.totalTokens}
          .total=${total}
          .context=${this.memory}
          .error=${this.memoryError}
          ?compacting=${this.compacting}
          .mayCompact=${mayChange && row !== undefined}
          @unfold=${() => this.tell("context")}
          @compact=${() => this.act({ do: "compact" })}
        ></oc-context-meter>
      </div>
      ${this.menu()}
    </header>`;
  }
}
customElements.define("oc-chat-header", ChatHeader);
