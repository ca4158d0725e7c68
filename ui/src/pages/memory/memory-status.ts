import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { randomId } from "../../base/random-id.ts";
import { ago, bytes, duration, exactly, plural } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import type { Status } from "./memory-facts.ts";
import { t } from "../../words/words.ts";

/** The parts of `custom` that are shown. */
interface Embedding {
  readonly providerUnavailableReason?: string;
  readonly providerFailingSinceMs?: number;
  readonly advice?: string;
  readonly pendingLines?: number;
}

const REBUILD_MS = 30 * 60_000;

/** What is indexed of an agent's memory, what is not and why. Says `changed` after the index was rebuilt. */
export class MemoryStatus extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      .strip {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 14px;
        font-size: var(--type-ui);
        color: var(--ink-soft);
      }
      .strip button {
        margin-inline-start: auto;
      }
      progress {
        width: 90px;
        height: 6px;
        accent-color: var(--info);
      }
      ul {
        margin: 8px 0 0;
        padding: 10px 12px 10px 28px;
        max-height: 200px;
        overflow: auto;
        font-size: var(--type-ui);
        background: var(--warn-soft);
        border-radius: var(--radius-small);
        overflow-wrap: anywhere;
      }
      .failing {
        color: var(--warn);
        display: inline-flex;
        gap: 4px;
        align-items: center;
      }
      .problems {
        color: var(--warn);
        border-color: transparent;
        background: var(--warn-soft);
      }
    `,
  ];
  @property({ attribute: false }) context!: PageContext;
  @property({ attribute: false }) status: Status | undefined;
  /** In which times are shown. */
  @property() timeZone: string | undefined;
  @state() private since: number | undefined;
  @state() private open = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  private async rebuild(agentId: string): Promise<void> {
    const { link, toasts } = this.context;
    this.since = Date.now();
    this.timer = setInterval(() => this.requestUpdate(), 1000);
    try {
      const params = { agentId, force: true, idempotencyKey: randomId() };
      const { files, messages, ms } = await link.request("memory.index", params, { timeoutMs: REBUILD_MS });
      toasts.say(t`Index rebuilt in ${duration(ms)}: ${plural(files, t("note"), t("notes"))} and ${plural(messages, t("message"), t("messages"))}`);
    } catch (error) {
      toasts.warn(t`The index was not rebuilt; the old one is still in use. ${failureText(error)}`);
    } finally {
      clearInterval(this.timer);
      this.since = undefined;
      this.dispatchEvent(new CustomEvent("changed"));
    }
  }

  private provider({ status: { provider, model, vector, custom, requestedProvider } }: Status): TemplateResult {
    const { providerUnavailableReason: reason, providerFailingSinceMs: since, advice } = custom as Embedding;
    const isWanted = provider !== "none" || requestedProvider !== "auto";
    if (!isWanted)
      return html`<span title=${t("Search uses words, dates and nearby passages. You can add an embedding provider.")}>${t("Works without an API key")}</span>`;
    const name = provider === "none" ? requestedProvider : `${provider}${model === undefined ? "" : ` ${model}`}`;
    if (reason !== undefined) {
      const begun = since === undefined ? "" : t` since ${exactly(since, this.timeZone)}`;
      return html`<span class="failing" title=${`${reason}${advice === undefined ? "" : t`. What to do: ${advice}`}`}
        >${icon("warn", 14)}${t("Embeddings:")} ${name} ${t("is not working")}${begun}${t(". Search uses keywords only.")}</span
      >`;
    }
    const { count = 0, pending = 0 } = vector as { readonly count?: number; readonly pending?: number };
    return html`<span title=${plural(count, t("vector"), t("vectors"))}
      >${t`Embeddings: ${name}${pending === 0 ? "" : t`, ${plural(pending, t("passage"), t("passages"))} left`}`}</span
    >`;
  }

  private activity({ status: { indexing, dirty, updatedAtMs, custom } }: Status): TemplateResult {
    const { pendingLines: left = 0 } = custom as Embedding;
    if (this.since !== undefined) {
      const seconds = Math.floor((Date.now() - this.since) / 1000);
      return html`<span role="status"
        ><progress aria-label=${t("Rebuilding the index")}></progress> ${t`Rebuilding${seconds < 2 ? "" : `, ${seconds} s`}. Search keeps working.`}</span
      >`;
    }
    if (indexing)
      return html`<span role="status"
        ><progress aria-label=${t("Indexing")}></progress> ${t`Indexing…${left === 0 ? "" : t` ${plural(left, t("line"), t("lines"))} left`}`}</span
      >`;
    if (dirty) return html`<span>${t("Changes are indexed with the next search")}</span>`;
    return updatedAtMs === undefined
      ? html`<span>${t("Up to date")}</span>`
      : html`<span title=${exactly(updatedAtMs, this.timeZone)}>${t`Updated ${ago(updatedAtMs)}`}</span>`;
  }

  private strip(status: Status): TemplateResult {
    const { sourceCounts, dbBytes } = status.status;
    const { issues } = status.scan;
    const of = (source: string): { readonly files: number; readonly chunks: number } =>
      sourceCounts.find((one) => one.source === source) ?? { files: 0, chunks: 0 };
    const [notes, chats] = [of("memory"), of("sessions")];
    return html`<div class="strip">
        <span>${t`${plural(notes.files, t("note"), t("notes"))} and ${plural(chats.chunks, t("message"), t("messages"))} indexed`}</span>
        <span title=${t("Index size")}>${bytes(dbBytes)}</span>
        ${this.activity(status)}${this.provider(status)}
        ${
          issues.length === 0
            ? nothing
            : html`<button class="small problems" aria-expanded=${this.open} @click=${() => (this.open = !this.open)}>
                ${icon("warn", 14)}${plural(issues.length, t("file"), t("files"))} ${t("skipped")}
              </button>`
        }
        ${
          this.context.link.may("operator.write")
            ? html`<button class="small" ?disabled=${this.since !== undefined} @click=${() => void this.rebuild(status.agentId)}>
                ${icon("retry", 14)}${t("Rebuild index")}
              </button>`
            : nothing
        }
      </div>
      ${
        this.open && issues.length > 0
          ? html`<ul aria-label=${t("Skipped files")} tabindex="0">
              ${issues.map((text) => html`<li>${text}</li>`)}
            </ul>`
          : nothing
      }`;
  }

  protected override render(): TemplateResult {
    const { status } = this;
    if (!status) return html`<div class="strip">&nbsp;</div>`;
    if (!status.status.enabled) {
      const path = "agents.defaults.memorySearch";
      return html`<div class="note warn">
        ${t("Memory search is turned off for this agent.")}
        <a href=${place("config", [], { path })}>${t("Turn it on in the configuration")}</a> (<code>${path}.enabled</code>).
      </div>`;
    }
    return this.strip(status);
  }
}
customElements.define("oc-memory-status", MemoryStatus);
