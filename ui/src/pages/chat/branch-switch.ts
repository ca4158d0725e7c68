import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { randomId } from "../../base/random-id.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import { t } from "../../words/words.ts";
import type { ChatEntry } from "./model/state.ts";

type Port = Pick<Link, "request" | "has">;

/** What is known of the row that a switch is in. */
export interface SwitchTools {
  readonly link: Port;
  readonly sessionKey: string;
  readonly mayWrite: boolean;
}

/** Versions of a message, or answers to one: which is shown, the others, and one more. */
export class BranchSwitch extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: inline-flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 2px;
      }
      .count {
        font-variant-numeric: tabular-nums;
      }
      [role="alert"] {
        flex-basis: 100%;
        color: var(--bad);
      }
    `,
  ];
  @property({ attribute: false }) link!: Port;
  @property({ attribute: false }) sessionKey!: string;
  @property({ attribute: false }) entry!: ChatEntry;
  @property({ type: Boolean }) may = false;
  /** Another answer can be asked for. */
  @property({ type: Boolean }) again = false;
  @state() private busy = false;
  @state() private error = "";

  private async attempt(work: () => Promise<unknown>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.error = "";
    try {
      await work();
    } catch (error) {
      this.error = failureText(error);
    }
    this.busy = false;
  }

  private go(entryId: string): void {
    void this.attempt(() => this.link.request("chat.branch", { sessionKey: this.sessionKey, entryId }));
  }

  private regenerate(entryId: string): void {
    const { link, sessionKey } = this;
    void this.attempt(() => link.request("chat.regenerate", { sessionKey, entryId, idempotencyKey: randomId() }));
  }

  private async compare(entryId: string): Promise<void> {
    const { openCompare } = await import("./branch-compare.ts");
    openCompare(this.renderRoot, { link: this.link, sessionKey: this.sessionKey, entryId, may: this.may });
  }

  private step(label: string, name: "left" | "right", entryId: string | undefined): TemplateResult {
    return html`<button
      class="plain small act"
      aria-label=${label}
      title=${label}
      ?disabled=${entryId === undefined || this.busy || !this.may}
      @click=${() => entryId !== undefined && this.go(entryId)}
    >
      ${icon(name, 14)}
    </button>`;
  }

  protected override render(): TemplateResult {
    const { siblings, id, kind } = this.entry;
    const isAnswer = kind === "assistant";
    return html`${
      siblings
        ? html`${this.step(isAnswer ? t("Previous answer") : t("Previous version"), "left", siblings.previous)}
            <span class="count" aria-label=${isAnswer ? t`Answer ${siblings.at} of ${siblings.of}` : t`Version ${siblings.at} of ${siblings.of}`}
              >${siblings.at}/${siblings.of}</span
            >
            ${this.step(isAnswer ? t("Next answer") : t("Next version"), "right", siblings.next)}`
        : nothing
    }
    ${
      siblings && isAnswer && id !== undefined
        ? html`<button
            class="plain small act"
            aria-label=${t("Compare answers")}
            title=${t("Compare answers")}
            @click=${() => void this.attempt(() => this.compare(id))}
          >
            ${icon("compare", 15)}
          </button>`
        : nothing
    }
    ${
      this.again && this.may && id !== undefined
        ? html`<button
            class="plain small act"
            aria-label=${t("Regenerate")}
            title=${t("Regenerate")}
            ?disabled=${this.busy}
            @click=${() => this.regenerate(id)}
          >
            ${icon("retry", 15)}
          </button>`
        : nothing
    }
    ${this.error === "" ? nothing : html`<span role="alert">${this.error}</span>`}`;
  }
}
customElements.define("oc-branch-switch", BranchSwitch);

/** The switch of a message or an answer, where there is something to switch or to ask for again. */
export function branchSwitch(entry: ChatEntry, { link, sessionKey, mayWrite }: SwitchTools, again = false): TemplateResult | typeof nothing {
  const offers = again && mayWrite && entry.id !== undefined;
  if (!link.has("chat.branch") || (!entry.siblings && !offers)) return nothing;
  return html`<oc-branch-switch .link=${link} .sessionKey=${sessionKey} .entry=${entry} ?may=${mayWrite} ?again=${offers}></oc-branch-switch>`;
}

/** Where a conversation ends with a message whose answer is on another branch, such as when a new one never came. */
export function otherAnswers(others: readonly string[] | undefined, { link, sessionKey, mayWrite }: SwitchTools): TemplateResult | typeof nothing {
  const newest = others?.at(-1);
  if (newest === undefined || !mayWrite || !link.has("chat.branch")) return nothing;
  const show = (event: Event): void => {
    const button = event.currentTarget as HTMLButtonElement;
    button.disabled = true;
    link.request("chat.branch", { sessionKey, entryId: newest }).catch(() => (button.disabled = false));
  };
  return html`<div class="item mark" data-key="others">
    <button class="small" @click=${show}>${t("Show the previous answer")}</button>
  </div>`;
}
