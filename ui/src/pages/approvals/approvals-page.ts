import { css, html, nothing, type TemplateResult } from "lit";
import { state } from "lit/decorators.js";
import { Watch } from "../../base/signal.ts";
import { sheet } from "../../look/sheet.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { pageHead, pageHeadLook } from "../../parts/page-head.ts";
import { failedNote, missingNote } from "../../parts/page-look.ts";
import { sectionLook } from "../../parts/section.ts";
import { tabs, tabsLook } from "../../parts/tabs.ts";
import { Page } from "../../shell/page.ts";
import { place } from "../../shell/router.ts";
import { t } from "../../words/words.ts";
import type { Decision } from "../chat/approvals-board.ts";
import "../chat/approvals.ts";
import type { SessionRow } from "../chat/sidebar-groups.ts";
import "./approval-history.ts";
import "./approval-rules.ts";

/** What waits for a decision anywhere, what was decided, and what is allowed without asking. */
export class ApprovalsPage extends Page {
  static override styles = [
    sheet,
    pageHeadLook,
    tabsLook,
    emptyLook,
    sectionLook,
    css`
      .waiting {
        max-width: 800px;
      }
    `,
  ];
  private readonly waiting = new Watch(this, () => this.context.approvals.state);

  /** Sessions, for their names. */
  @state() private rows: readonly SessionRow[] = [];
  /** Keys whose names were asked for. */
  private readonly asked = new Set<string>();

  /** The requests load by themselves with each connection; the names of their conversations here. */
  override async load(): Promise<void> {
    const { link } = this.context;
    const answer = await link.request("sessions.list", { limit: 500, includeDerivedTitles: true, includeGlobal: true }).catch(() => undefined);
    if (answer) this.rows = answer.sessions;
  }

  protected override updated(): void {
    const keys = this.waiting.value.waiting.flatMap(({ request }) => request.sessionKey ?? []);
    const news = keys.filter((key) => !this.asked.has(key));
    for (const key of news) this.asked.add(key);
    if (news.some((key) => !this.rows.some((row) => row.key === key))) void this.load();
  }

  /** A key that is pressed by habit allows nothing. Cards refuse it where it would; here it is said. */
  private key(event: KeyboardEvent): void {
    if (event.key === "Enter" && event.defaultPrevented) this.context.toasts.say(t("Press Space or click to allow. Enter does not."));
  }

  private pending(): TemplateResult {
    const { value } = this.waiting;
    const { link } = this.context;
    return html`<div class="waiting">
      ${value.failure === undefined ? nothing : failedNote(value.failure, () => void this.attempt(() => this.context.approvals.load()))}
      ${
        value.waiting.length === 0 && value.failure === undefined
          ? emptyState({
              icon: "check",
              title: t("Nothing is waiting"),
              text: t("Commands that need your approval appear here, from every conversation, channel and node."),
            })
          : nothing
      }
      <oc-approvals
        all
        .rows=${this.rows}
        .approvals=${value}
        .may=${link.may("operator.approvals")}
        @keydown=${this.key}
        @decide=${({ detail }: CustomEvent<{ id: string; decision: Decision }>) => void this.attempt(() => this.context.approvals.decide(detail.id, detail.decision))}
      ></oc-approvals>
    </div>`;
  }

  private body(view: string): TemplateResult {
    const { context } = this;
    if (view === "history")
      return html`<oc-approval-history .context=${context} .rows=${this.rows} .ended=${this.waiting.value.waiting.length}></oc-approval-history>`;
    if (view === "rules") return html`<oc-approval-rules .context=${context}></oc-approval-rules>`;
    return this.pending();
  }

  protected override routeChanged(): void {
    // The parts load what they show.
  }

  protected override render(): TemplateResult {
    const [view = "pending"] = this.route.rest;
    const { link } = this.context;
    const count = this.waiting.value.waiting.length;
    const tab = (name: string, label: string, number?: number) => ({
      label,
      href: place("approvals", name === "pending" ? [] : [name]),
      isCurrent: view === name,
      count: number,
    });
    const may = link.has("exec.approval.list") && link.may("operator.approvals");
    return html`${pageHead({ title: t("Approvals"), fact: count === 0 ? undefined : count === 1 ? t("1 request is waiting") : t`${count} requests are waiting` })}
      ${tabs(t("Views"), [tab("pending", t("Waiting"), count), tab("history", t("History")), tab("rules", t("Rules"))])}
      <div class="page">${may ? this.body(view) : missingNote(t("Deciding approvals"))}</div>`;
  }
}
customElements.define("oc-approvals-page", ApprovalsPage);
