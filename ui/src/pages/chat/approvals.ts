import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import "./approvals-command.ts";
import type { SessionRow } from "./sidebar-groups.ts";
import { elsewhere, type Approval, type ApprovalsState, type Decision } from "./approvals-board.ts";

const WHY: Readonly<Record<string, string>> = {
  always: "Every command is asked about here.",
  "on-miss": "It is not on the list of allowed commands.",
};

const HOSTS: Readonly<Record<string, string>> = { gateway: "the gateway's machine", sandbox: "the sandbox", node: "a node" };
const RULES: Readonly<Record<string, string>> = { full: "any command may run", allowlist: "only commands on the list may run", deny: "no command may run" };
const inWords = (word: string | null, words: Readonly<Record<string, string>>): string | null => (word === null ? null : (words[word] ?? word));

/** Requests that wait for a decision in this conversation. Dispatches `decide` {id, decision}. */
export class ApprovalCards extends LitElement {
  static override styles = [
    sheet,
    css`
      .card {
        display: grid;
        gap: 10px;
        margin-bottom: 10px;
        padding: 12px 14px;
        border-color: var(--warn);
        box-shadow: var(--shadow);
      }
      dl {
        display: grid;
        grid-template-columns: max-content 1fr;
        gap: 2px 12px;
        margin: 0;
        font-size: 13.5px;
      }
      dt {
        color: var(--ink-soft);
      }
      dd {
        margin: 0;
        overflow-wrap: anywhere;
      }
      .time {
        font-size: 13px;
        color: var(--ink-soft);
        font-variant-numeric: tabular-nums;
      }
      .time.short {
        color: var(--bad);
      }
      .report {
        display: block;
        margin-bottom: 8px;
        font-size: 13.5px;
      }
    `,
  ];
  @property({ attribute: false }) approvals!: ApprovalsState;
  @property() sessionKey = "";
  /** The sessions that are known, for their names. */
  @property({ attribute: false }) rows: readonly SessionRow[] = [];
  @property({ type: Boolean }) may = true;
  /** Those whose end was on the screen: nobody allows what they could not read. */
  @state() private read: ReadonlySet<string> = new Set();
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => {
      if (this.approvals.waiting.length > 0) this.requestUpdate();
    }, 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  private decide(id: string, decision: Decision): void {
    this.dispatchEvent(new CustomEvent("decide", { detail: { id, decision } }));
  }

  private facts({ kind, request }: Approval): TemplateResult {
    const facts: readonly (readonly [string, string | null | undefined])[] = [
      ["In", request.cwd],
      ["On", inWords(request.host, HOSTS)],
      ["Node", request.nodeId?.slice(0, 12)],
      ["Program", request.resolvedPath],
      ["Agent", request.agentId],
      ["Rule", inWords(request.security, RULES)],
      ["Environment", request.environment],
      ["Always", request.always],
      ["Why", kind === "exec" ? inWords(request.ask, WHY) : "A plugin asks before it goes on."],
    ];
    return html`<dl>
      ${facts.map(([name, value]) =>
        value
          ? html`<dt>${name}</dt>
              <dd class=${name === "In" || name === "Program" ? "mono" : ""}>${value}</dd>`
          : nothing,
      )}
    </dl>`;
  }

  private card(approval: Approval): TemplateResult {
    const { id, kind, request, until } = approval;
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    const busy = this.approvals.deciding.has(id);
    const unread = !this.read.has(id);
    return html`<div class="card" role="group" aria-labelledby="title-${id}">
      <div class="row wrap">
        ${icon("warn")}
        <h2 class="grow" id="title-${id}">${kind === "exec" ? "May this command run?" : "May this go on?"}</h2>
        <span class="time ${left <= 15 ? "short" : ""}" role="timer" aria-live="off">${left} s left</span>
      </div>
      <oc-approval-command .text=${request.command} @read=${() => (this.read = new Set([...this.read, id]))}></oc-approval-command>
      ${this.facts(approval)}
      <div class="row wrap">
        <button class="danger" ?disabled=${busy || !this.may} @click=${() => this.decide(id, "deny")}>Deny</button>
        <button class="primary" ?disabled=${busy || unread || !this.may} @click=${() => this.decide(id, "allow-once")}>Allow once</button>
        <button ?disabled=${busy || unread || !this.may} @click=${() => this.decide(id, "allow-always")}>Always allow</button>
        ${unread && this.may ? html`<span class="faint">Read it to its end to allow it: scroll down, or show all of it.</span>` : nothing}
        ${this.may ? nothing : html`<span class="faint">This browser may not decide (scope operator.approvals).</span>`}
      </div>
    </div>`;
  }

  protected override render(): TemplateResult {
    const { waiting, notes } = this.approvals;
    const here = waiting.filter(({ request }) => request.sessionKey === null || request.sessionKey === this.sessionKey);
    const shown = notes.filter(({ sessionKey }) => sessionKey === null || sessionKey === this.sessionKey);
    return html`<div role="status" aria-live="polite">${shown.map(({ text }) => html`<span class="report note">${text}</span>`)}</div>
      <div aria-live="assertive">${here.map((approval) => this.card(approval))}</div>
      ${elsewhere(waiting, this.sessionKey, this.rows).map(
        ({ key, name, count }) =>
          html`<p class="report note warn">
            ${count === 1 ? "Something waits" : `${count} things wait`} for approval in <a href=${place("chat", [key])} title=${key}>${name}</a>.
          </p>`,
      )}`;
  }
}
customElements.define("oc-approvals", ApprovalCards);
