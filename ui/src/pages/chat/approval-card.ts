import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { readableKey } from "openclaw/client";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { styleMap } from "../../look/style-map.ts";
import { place } from "../../shell/router.ts";
import "./approvals-command.ts";
import type { Approval, Decision } from "./approvals-board.ts";
import { consequenceOf } from "./approval-risk.ts";
import { clockOf } from "./cards/elapsed.ts";
import { t } from "../../words/words.ts";

const WHY: Readonly<Record<string, string>> = {
  always: t("Every command needs approval here."),
  "on-miss": t("It is not on the list of allowed commands."),
};
const HOSTS: Readonly<Record<string, string>> = { gateway: t("the gateway's machine"), sandbox: t("the sandbox"), node: t("a node") };
const RULES: Readonly<Record<string, string>> = {
  full: t("any command may run"),
  allowlist: t("only commands on the list may run"),
  deny: t("no command may run"),
};
const inWords = (word: string | null, words: Readonly<Record<string, string>>): string | null => (word === null ? null : (words[word] ?? word));

/** One request that waits for a decision. Dispatches `decide` {id, decision}. Enter allows nothing: who writes does not allow by accident. */
export class ApprovalCard extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
        margin: 4px 0 8px;
      }
      .frame {
        background: var(--paper);
        border: 1px solid color-mix(in srgb, var(--warn-solid) 60%, var(--line));
        border-radius: var(--radius);
        overflow: hidden;
      }
      header {
        display: flex;
        align-items: center;
        gap: 8px;
        min-height: 38px;
        padding: 0 14px 0 12px;
        color: var(--warn);
        background: var(--warn-soft);
      }
      h2 {
        font-size: var(--type-ui);
        color: var(--ink);
      }
      .time {
        font-size: var(--type-small);
        font-weight: 500;
        font-variant-numeric: tabular-nums;
      }
      .time.short {
        color: var(--bad);
      }
      .left {
        height: 2px;
        background: color-mix(in srgb, var(--warn-solid) 22%, transparent);
      }
      .left > i {
        display: block;
        height: 100%;
        background: var(--warn-solid);
      }
      .what {
        display: grid;
        gap: 6px;
        padding: 8px 14px 14px;
      }
      .why {
        font-size: var(--type-ui);
        color: var(--ink-soft);
        overflow-wrap: anywhere;
      }
      .of {
        font-size: var(--type-ui);
        font-weight: 500;
        overflow-wrap: anywhere;
      }
      .why strong {
        font-weight: 600;
        color: var(--ink);
      }
      footer {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
        padding-top: 6px;
      }
      .deny {
        color: var(--bad);
      }
      dl {
        display: grid;
        grid-template-columns: max-content 1fr;
        gap: 2px 12px;
        margin: 6px 0 0;
        font-size: var(--type-ui);
      }
      dt {
        color: var(--ink-soft);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      @media (max-width: 720px) {
        footer {
          display: grid;
          grid-template-columns: 1fr 1fr;
        }
        footer .grow {
          display: none;
        }
        footer .primary,
        footer .faint {
          grid-column: span 2;
        }
      }
    `,
  ];
  @property({ attribute: false }) approval!: Approval;
  @property({ type: Boolean }) busy = false;
  @property({ type: Boolean }) may = true;
  /** It says which conversation asks: it is not the one on the screen. */
  @property({ type: Boolean }) named = false;
  /** What that conversation is called in the list. */
  @property() name = "";
  /** Its end was on the screen: nobody allows what they could not read. */
  @state() private read = false;
  @state() private details = false;
  /** "Always" was pressed, and what that means is being read. */
  @state() private always = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  private decide(decision: Decision): void {
    this.dispatchEvent(new CustomEvent("decide", { detail: { id: this.approval.id, decision }, bubbles: true, composed: true }));
  }

  private readonly noEnter = (event: KeyboardEvent): void => {
    if (event.key === "Enter") event.preventDefault();
  };

  private facts(): TemplateResult {
    const { kind, request } = this.approval;
    const facts: readonly (readonly [string, string | null | undefined, "mono"?])[] = [
      [t("In"), request.cwd, "mono"],
      [t("Runs on"), inWords(request.host, HOSTS)],
      [t("Node"), request.nodeId?.slice(0, 12)],
      [t("Program"), request.resolvedPath, "mono"],
      [t("Agent"), request.agentId],
      [t("Rule"), inWords(request.security, RULES)],
      [t("Environment"), request.environment],
      [t("Always"), request.always],
      [t("Why"), kind === "exec" ? inWords(request.ask, WHY) : t("A plugin asks before it continues.")],
    ];
    return html`<dl>
      ${facts.map(([name, value, look = ""]) =>
        value
          ? html`<dt>${name}</dt>
              <dd class=${look}>${value}</dd>`
          : nothing,
      )}
    </dl>`;
  }

  private why(): TemplateResult {
    const { kind, request } = this.approval;
    const consequence = kind === "exec" ? consequenceOf(request.command) : undefined;
    const where = inWords(request.host, HOSTS);
    return html`<p class="why">
      ${consequence === undefined ? nothing : html`<strong>${consequence}</strong> `}${where === null ? nothing : t`Runs on ${where}`}${
        request.cwd ? html` ${t("in")} <code>${request.cwd}</code>` : nothing
      }${where === null && !request.cwd ? nothing : ". "}${kind === "exec" ? (inWords(request.ask, WHY) ?? "") : t("A plugin asks before it continues.")}
    </p>`;
  }

  /** The way to the conversation that asks. */
  private origin(): TemplateResult | typeof nothing {
    const { sessionKey } = this.approval.request;
    if (!this.named || sessionKey === null) return nothing;
    return html`<p class="of"><a href=${place("chat", [sessionKey])} title=${sessionKey}>${this.name || readableKey(sessionKey)}</a></p>`;
  }

  private buttons(): TemplateResult {
    const { may, busy, read, always } = this;
    const off = busy || !read || !may;
    if (always) {
      return html`<p class="why">${this.approval.request.always ?? t("This command will run from now on without asking.")}</p>
        <footer>
          <button class="primary" ?disabled=${off} @keydown=${this.noEnter} @click=${() => this.decide("allow-always")}>${t("Always allow")}</button>
          <button @click=${() => (this.always = false)}>${t("Back")}</button>
        </footer>`;
    }
    return html`<footer>
      <button class="primary" ?disabled=${off} @keydown=${this.noEnter} @click=${() => this.decide("allow-once")}>${t("Allow once")}</button>
      <button ?disabled=${off} @click=${() => (this.always = true)}>${t("Always allow…")}</button>
      <button class="plain deny" ?disabled=${busy || !may} @click=${() => this.decide("deny")}>${t("Deny")}</button>
      <span class="grow"></span>
      <button class="plain" aria-expanded=${this.details} @click=${() => (this.details = !this.details)}>${t("Details")}</button>
      ${!read && may ? html`<span class="faint">${t("Read to the end to allow it: scroll down or show it in full.")}</span>` : nothing}
      ${may ? nothing : html`<span class="faint">${t("This browser cannot decide approvals. It needs the scope operator.approvals.")}</span>`}
    </footer>`;
  }

  protected override render(): TemplateResult {
    const { id, kind, request, until, createdAtMs, expiresAtMs } = this.approval;
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    const whole = Math.max(1, (expiresAtMs - createdAtMs) / 1000);
    return html`<div class="frame" role="group" aria-labelledby="title-${id}">
      <header>
        ${icon("shield", 16)}
        <h2 class="grow" id="title-${id}">${kind === "exec" ? t("Allow this command?") : t("Allow this to continue?")}</h2>
        <span class="time ${left <= 15 ? "short" : ""}" role="timer" aria-live="off">${t`${clockOf(left * 1000)} left`}</span>
      </header>
      <div class="left" aria-hidden="true"><i style=${styleMap({ width: `${Math.min(100, (left / whole) * 100)}%` })}></i></div>
      <div class="what">
        ${this.origin()}
        <oc-approval-command .text=${request.command} @read=${() => (this.read = true)}></oc-approval-command>
        ${this.why()} ${this.buttons()} ${this.details ? this.facts() : nothing}
      </div>
    </div>`;
  }
}
customElements.define("oc-approval", ApprovalCard);
