import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodParams, MethodResult } from "openclaw/client";
import { ago, exactly, money, tokens } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import "../../parts/copy-button.ts";
import { facts, factsLook } from "../../parts/key-value.ts";
import { pageLook } from "../../parts/page-look.ts";
import "../../parts/select.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import "../chat/pickers.ts";
import { modelChoices, type ModelChoice } from "../chat/pickers-models.ts";
import { isMain } from "../chat/sidebar-groups.ts";
import { act, type SessionAction } from "../chat/session-actions.ts";
import { actOnList } from "../chat/sidebar-actions.ts";
import type { SessionLine } from "./session-table.ts";
import { t } from "../../words/words.ts";

type Patch = Omit<MethodParams<"sessions.patch">, "key">;
type Models = MethodResult<"models.list">["models"];

interface Setting {
  readonly name: keyof Patch;
  readonly label: string;
  readonly words: readonly string[];
  /** Rows do not tell it: what it is now is not known until it is set here. */
  readonly untold?: boolean;
}

/** Settings with a few words to choose from. */
const SETTINGS: readonly Setting[] = [
  { name: "thinkingLevel", label: t("Thinking"), words: ["off", "minimal", "low", "medium", "high", "xhigh"] },
  { name: "verboseLevel", label: t("Tool calls in chat"), words: ["off", "on", "full"] },
  { name: "reasoningLevel", label: t("Reasoning in chat"), words: ["off", "on", "stream"] },
  { name: "responseUsage", label: t("Usage below answers"), words: ["off", "tokens", "full"] },
  { name: "elevatedLevel", label: t("Elevated commands"), words: ["off", "ask", "on", "full"] },
  { name: "sendPolicy", label: t("Send answers"), words: ["allow", "deny"] },
  { name: "groupActivation", label: t("Answer in groups"), words: ["mention", "always"], untold: true },
  { name: "execHost", label: t("Commands run on"), words: ["sandbox", "gateway", "node"], untold: true },
  { name: "execSecurity", label: t("Allowed commands"), words: ["deny", "allowlist", "full"], untold: true },
  { name: "execAsk", label: t("Ask before running commands"), words: ["off", "on-miss", "always"], untold: true },
];

/** No choice has this value: the placeholder is shown. */
const UNKNOWN = "?";

const wordOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** One session: what it is, its settings, and what can be done to it. Sends `changed` and `gone`. */
export class SessionDetail extends LitElement {
  static override styles = [
    sheet,
    factsLook,
    pageLook,
    css`
      .two {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr));
        gap: 16px;
        align-items: start;
        margin-bottom: 24px;
      }
      .card h2 {
        margin-bottom: 12px;
      }
      .model,
      .choice {
        display: grid;
        gap: 4px;
        min-width: 0;
        font-size: var(--type-ui);
        color: var(--ink-soft);
      }
      .model {
        justify-items: start;
        grid-column: 1 / -1;
      }
      blockquote {
        margin: 12px 0 0;
        padding-inline-start: 12px;
        border-inline-start: 3px solid var(--line-strong);
        color: var(--ink-soft);
        overflow-wrap: anywhere;
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) line!: SessionLine;
  @property() preview = "";
  @property({ attribute: false }) models: Models = [];
  @state() private busy: string | undefined;
  private made: { readonly models: Models; readonly now: string; readonly choices: readonly ModelChoice[] } | undefined;
  /** What was chosen here, of settings that rows do not tell. */
  private readonly chosen = new Map<string, string>();

  private async act(action: SessionAction): Promise<void> {
    this.busy = action.do;
    try {
      await act(action, {
        context: this.context,
        key: this.line.key,
        title: this.line.title,
        label: this.line.row.label,
        changed: () => this.dispatchEvent(new CustomEvent("changed")),
      });
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    } finally {
      this.busy = undefined;
      this.dispatchEvent(new CustomEvent("changed"));
    }
  }

  /** No question: the toast takes it back. */
  private async discard(): Promise<void> {
    const { key, title } = this.line;
    const changed = (gone: readonly string[]): void =>
      void this.dispatchEvent(gone.length > 0 ? new CustomEvent<string>("gone", { detail: key }) : new CustomEvent("changed"));
    try {
      await actOnList({ do: "delete", keys: [key] }, this.context, changed, () => title);
    } catch (error) {
      this.context.toasts.warn(failureText(error));
    }
  }

  private set(name: string, value: string): void {
    this.chosen.set(name, value);
    void this.act({ do: "set", change: { [name]: value === "" ? null : value } });
  }

  private choice({ name, label, words, untold = false }: Setting): TemplateResult {
    const now = untold ? this.chosen.get(name) : wordOf((this.line.row as Readonly<Record<string, unknown>>)[name]);
    const known = now === undefined || now === "" || words.includes(now) ? words : [...words, now];
    const options = [{ value: "", label: t("default") }, ...known.map((word) => ({ value: word, label: word }))];
    return html`<div class="choice">
      <span aria-hidden="true">${label}</span>
      <oc-select
        block
        label=${label}
        placeholder=${t("unchanged")}
        .value=${now ?? UNKNOWN}
        .options=${options}
        @choose=${({ detail }: CustomEvent<string>) => this.set(name, detail)}
      ></oc-select>
    </div>`;
  }

  /** In the order of their use; made once for each list. */
  private choices(now: string): readonly ModelChoice[] | undefined {
    if (this.models.length === 0) return undefined;
    if (this.made?.models !== this.models || this.made.now !== now) this.made = { models: this.models, now, choices: modelChoices(this.models, [], now) };
    return this.made.choices;
  }

  private settings(): TemplateResult {
    const { row } = this.line;
    const now = row.model ? `${row.modelProvider ? `${row.modelProvider}/` : ""}${row.model}` : "";
    return html`<section class="card">
      <h2>${t("Settings")}</h2>
      <div class="fields">
        <label
          >${t("Label")}
          <input
            maxlength="64"
            .value=${row.label ?? ""}
            @change=${(event: Event) => void this.act({ do: "rename", label: (event.target as HTMLInputElement).value.trim() })}
        /></label>
        <div class="model">
          <span>${t("Model")}</span>
          <oc-model-picker
            setting
            .current=${now}
            .choices=${this.choices(now)}
            @choose=${({ detail }: CustomEvent<{ ref: string | undefined }>) => this.set("model", detail.ref ?? "")}
          ></oc-model-picker>
        </div>
        ${SETTINGS.map((setting) => this.choice(setting))}
      </div>
    </section>`;
  }

  private actions(): TemplateResult {
    const { link } = this.context;
    const admin = link.may("operator.admin");
    const stuck = this.busy !== undefined;
    const exports = link.has("sessions.export");
    return html`<div class="row wrap">
      <a class="button primary" href=${place("chat", [this.line.key])}>${t("Open chat")}</a>
      <a class="button" href=${place("trace", [this.line.key])}>${t("Trace of the last run")}</a>
      ${
        exports
          ? html`<button ?disabled=${stuck} @click=${() => void this.act({ do: "export", format: "jsonl" })}>${icon("download", 16)}${t("Export")}</button>
              <button ?disabled=${stuck} @click=${() => void this.act({ do: "export", format: "markdown" })}>
                ${icon("download", 16)}${t("Export as Markdown")}
              </button>`
          : nothing
      }
      ${
        admin
          ? html`<button ?disabled=${stuck} @click=${() => void this.act({ do: "compact" })}>
                ${this.busy === "compact" ? t("Compacting…") : t("Compact")}
              </button>
              <button ?disabled=${stuck} @click=${() => void this.act({ do: "reset" })}>${t("Reset")}</button>
              ${isMain(this.line.key) ? nothing : html`<button class="danger" ?disabled=${stuck} @click=${() => void this.discard()}>${t("Delete")}</button>`}`
          : nothing
      }
    </div>`;
  }

  protected override render(): TemplateResult {
    const { line } = this;
    const { row } = line;
    const available = row.contextTokens ?? 0;
    return html`<section>${this.actions()}</section>
      <div class="two">
        <section class="card">
          <h2>${t("Details")}</h2>
          ${facts([
            [t("Key"), html`<code>${line.key}</code> <oc-copy-button what=${t("the session key")} .text=${line.key}></oc-copy-button>`],
            [t("Agent"), html`<a href=${place("agents", [line.agentId])}>${line.agentId}</a>`],
            [t("Where"), line.where === "here" ? t("on this page") : html`<a href="channels">${line.where}</a>`],
            [t("Type"), [row.kind, row.chatType].filter((word, at, all) => word !== undefined && all.indexOf(word) === at).join(", ")],
            [t("Subject"), row.subject],
            [t("Answers go to"), [row.lastChannel, row.lastTo].filter(Boolean).join(" ")],
            [t("Last activity"), line.updatedAt === 0 ? t("never") : html`<span title=${exactly(line.updatedAt)}>${ago(line.updatedAt)}</span>`],
            [t("Context"), available > 0 ? t`${tokens(line.tokens)} of ${tokens(available)} tokens` : t`${tokens(line.tokens)} tokens`],
            [t("Cost"), money(line.cost)],
            ["Id", row.sessionId === undefined ? undefined : html`<code>${row.sessionId}</code>`],
            [t("Last run"), row.abortedLastRun ? t("stopped") : undefined],
          ])}
          ${this.preview === "" ? nothing : html`<blockquote>${this.preview}</blockquote>`}
        </section>
        ${this.context.link.may("operator.admin") ? this.settings() : nothing}
      </div>`;
  }
}
customElements.define("oc-session-detail", SessionDetail);
