import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { sheet } from "../../look/sheet.ts";
import { place } from "../../shell/router.ts";
import "./approval-card.ts";
import type { SessionRow } from "./sidebar-groups.ts";
import { elsewhere, nameIn, waitingIn, type Approval, type ApprovalsState } from "./approvals-board.ts";
import { t } from "../../words/words.ts";

/** What became of requests, those of other conversations, and those of this one where no log shows them. */
export class ApprovalCards extends LitElement {
  static override styles = [
    sheet,
    css`
      .report {
        display: block;
        margin-bottom: 8px;
        font-size: var(--type-ui);
      }
    `,
  ];
  @property({ attribute: false }) approvals!: ApprovalsState;
  @property() sessionKey = "";
  /** The sessions that are known, for their names. */
  @property({ attribute: false }) rows: readonly SessionRow[] = [];
  @property({ type: Boolean }) may = true;
  /** The requests of this conversation are shown here: there is no log that has them. */
  @property({ type: Boolean }) alone = false;
  /** The requests of every conversation are shown here, each with its name. */
  @property({ type: Boolean }) all = false;

  private get known(): readonly SessionRow[] {
    return [...this.rows, ...this.approvals.sessions];
  }

  protected override render(): TemplateResult {
    const { waiting, notes } = this.approvals;
    const here = this.all ? waiting : waitingIn(waiting, this.sessionKey);
    const shown = notes.filter(({ sessionKey }) => this.all || sessionKey === null || sessionKey === this.sessionKey);
    return html`<div role="status" aria-live="polite">${shown.map(({ text }) => html`<span class="report note">${text}</span>`)}</div>
      <div class="visually-hidden" aria-live="assertive">${here.length === 0 ? "" : t("A command waits for your approval.")}</div>
      ${
        this.alone || this.all
          ? repeat(
              here,
              ({ id }) => id,
              (approval) => this.card(approval),
            )
          : nothing
      }
      ${this.all ? nothing : this.others()}`;
  }

  private card(approval: Approval): TemplateResult {
    const { sessionKey } = approval.request;
    return html`<oc-approval
      .approval=${approval}
      ?busy=${this.approvals.deciding.has(approval.id)}
      .may=${this.may}
      ?named=${this.all}
      .name=${sessionKey === null ? "" : nameIn(this.known, sessionKey)}
    ></oc-approval>`;
  }

  /** One line for all other conversations in which something waits. */
  private others(): TemplateResult | typeof nothing {
    const others = elsewhere(this.approvals.waiting, this.sessionKey, this.known);
    if (others.length === 0) return nothing;
    const count = others.reduce((sum, one) => sum + one.count, 0);
    return html`<p class="report note warn">
      ${t`${count === 1 ? t("1 request is waiting") : t`${count} requests are waiting`} for approval in`}
      ${others.map(({ key, name }, at) => html`${at > 0 ? ", " : ""}<a href=${place("chat", [key])} title=${key}>${name}</a>`)}.
    </p>`;
  }
}
customElements.define("oc-approvals", ApprovalCards);
