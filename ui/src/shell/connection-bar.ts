import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { plural } from "../base/figures.ts";
import { Watch } from "../base/signal.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import type { Link } from "../link/link.ts";
import { t } from "../words/words.ts";

/** Says that the connection is lost, or that the gateway is newer than this page. Otherwise it is not there. */
export class ConnectionBar extends LitElement {
  static override styles = [
    sheet,
    css`
      .bar {
        display: flex;
        align-items: center;
        gap: 10px;
        padding: 6px 16px;
        font-size: var(--type-row);
        background: var(--warn-soft);
        color: var(--ink);
        border-bottom: 1px solid var(--line);
      }
      .grow {
        overflow: hidden;
        text-overflow: ellipsis;
      }
    `,
  ];
  link!: Link;
  @state() private now = Date.now();
  private readonly connection = new Watch(this, () => this.link.state);
  private readonly held = new Watch(this, () => this.link.held);
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => {
      if (this.connection.value.kind === "lost") this.now = Date.now();
    }, 500);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  private lost({ message, retryAt }: { readonly message: string; readonly retryAt: number | undefined }): TemplateResult {
    const seconds = retryAt === undefined ? undefined : Math.max(0, Math.ceil((retryAt - this.now) / 1000));
    return html`<div class="bar" role="alert">
      ${icon("warn")}
      <span class="grow" title=${message}
        >${t`Connection lost${seconds === undefined ? "" : seconds === 0 ? t(", retrying…") : t`, retrying in ${seconds} s`}. What you type is saved.`}${this.waiting()}</span
      >
      <button class="small" @click=${() => this.link.retry()}>${t("Try now")}</button>
    </div>`;
  }

  private waiting(): string {
    const count = this.held.value;
    return count === 0 ? "" : ` ${t`${plural(count, t("change"), t("changes"))} waiting for the connection.`}`;
  }

  protected override render(): TemplateResult | typeof nothing {
    const { value } = this.connection;
    if (value.kind === "lost") return this.lost(value);
    const server = this.link.hello?.server.version;
    if (server === undefined || server === __VERSION__) return nothing;
    return html`<div class="bar" role="status">
      ${icon("retry")}<span class="grow">${t`The gateway was updated to ${server}; this page is from ${__VERSION__}.`}</span>
      <button class="small primary" @click=${() => location.reload()}>${t("Reload page")}</button>
    </div>`;
  }
}
customElements.define("oc-connection-bar", ConnectionBar);
