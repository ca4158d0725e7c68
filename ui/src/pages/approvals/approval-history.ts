import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { ago, exactly } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import { sheet } from "../../look/sheet.ts";
import { dataTable, tableLook } from "../../parts/data-table.ts";
import { emptyLook, emptyState } from "../../parts/empty.ts";
import { failedNote, missingNote } from "../../parts/page-look.ts";
import { skeleton, skeletonLook } from "../../parts/skeleton.ts";
import { stateDot } from "../../parts/state.ts";
import type { PageContext } from "../../shell/context.ts";
import { place } from "../../shell/router.ts";
import type { SessionRow } from "../chat/sidebar-groups.ts";
import { t } from "../../words/words.ts";
import { deciderOf, originOf, outcomeOf, resultOf, type HistoryEntry } from "./approval-facts.ts";

/** What was decided, by whom, when and where it came from. The gateway stores it for 30 days. */
export class ApprovalHistory extends LitElement {
  static override styles = [
    sheet,
    tableLook,
    emptyLook,
    skeletonLook,
    css`
      code {
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
      .more {
        margin-top: 12px;
        text-align: center;
      }
    `,
  ];
  /** Sessions, for their names. */
  @property({ attribute: false }) rows: readonly SessionRow[] = [];
  @property({ attribute: false }) context!: PageContext;
  /** Loads again when it changes. */
  @property({ attribute: false }) ended = 0;
  @state() private entries: readonly HistoryEntry[] | undefined;
  @state() private more = false;
  @state() private failure: string | undefined;

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("ended")) void this.load();
  }

  private async load(before?: number): Promise<void> {
    const { link } = this.context;
    if (!link.has("exec.approval.history")) return;
    try {
      const { entries, more } = await link.request("exec.approval.history", { limit: 50, ...(before === undefined ? {} : { before }) });
      this.entries = before === undefined ? entries : [...(this.entries ?? []), ...entries];
      this.more = more;
      this.failure = undefined;
    } catch (error) {
      this.failure = failureText(error);
    }
  }

  private table(entries: readonly HistoryEntry[]): TemplateResult {
    return html`<div class="data-card">
        ${dataTable<HistoryEntry>({
          label: t("Decisions"),
          rows: entries,
          keyOf: ({ id }) => id,
          columns: [
            {
              head: t("Command"),
              cell: ({ request }) => html`<code>${request.command.length > 160 ? `${request.command.slice(0, 160)}…` : request.command}</code>`,
            },
            {
              head: t("Outcome"),
              cell: (entry) => {
                const { tone, word } = outcomeOf(entry);
                const result = resultOf(entry);
                return html`${stateDot(tone, word)}${result === "" ? nothing : html`<div class="faint">${result}</div>`}`;
              },
            },
            { head: t("By"), isWide: true, cell: deciderOf },
            {
              head: t("From"),
              isWide: true,
              cell: (entry) =>
                entry.request.sessionKey === null
                  ? originOf(entry, this.rows)
                  : html`<a href=${place("chat", [entry.request.sessionKey])} title=${entry.request.sessionKey}>${originOf(entry, this.rows)}</a>`,
            },
            {
              head: t("When"),
              isNumber: true,
              cell: ({ decidedAtMs, createdAtMs }) => html`<span title=${exactly(decidedAtMs ?? createdAtMs)}>${ago(decidedAtMs ?? createdAtMs)}</span>`,
            },
          ],
        })}
      </div>
      ${
        this.more
          ? html`<p class="more"><button @click=${() => void this.load(entries.at(-1)?.decidedAtMs ?? undefined)}>${t("Show older")}</button></p>`
          : nothing
      }`;
  }

  protected override render(): TemplateResult {
    if (!this.context.link.has("exec.approval.history")) return missingNote(t("Viewing decisions"));
    const { entries, failure } = this;
    return html`${failure === undefined ? nothing : failedNote(failure, () => void this.load())}
    ${
      entries === undefined
        ? failure === undefined
          ? skeleton()
          : nothing
        : entries.length === 0
          ? emptyState({
              icon: "clock",
              title: t("No decisions yet"),
              text: t("Decisions are stored for 30 days: what was asked, who decided, and what became of it."),
            })
          : this.table(entries)
    }`;
  }
}
customElements.define("oc-approval-history", ApprovalHistory);
