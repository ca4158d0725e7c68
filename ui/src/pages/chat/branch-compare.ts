import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import type { MethodResult } from "openclaw/client";
import { copyText } from "../../base/copy-text.ts";
import { moment } from "../../base/figures.ts";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { dialogSheet } from "../../look/dialog-sheet.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import "../../parts/select.ts";
import { t } from "../../words/words.ts";
import { prose } from "./markdown/draw.ts";
import { proseLook } from "./markdown/look.ts";

type Branch = MethodResult<"chat.branches">["branches"][number];

interface Asked {
  readonly link: Pick<Link, "request">;
  readonly sessionKey: string;
  readonly entryId: string;
  readonly may: boolean;
}

/** Two answers to the same message, side by side. */
export class CompareAnswers extends LitElement {
  static override styles = [
    sheet,
    dialogSheet,
    proseLook,
    css`
      dialog {
        width: min(1180px, calc(100vw - 32px));
        height: min(860px, calc(100dvh - 32px));
        flex-direction: column;
        gap: 12px;
      }
      dialog[open] {
        display: flex;
      }
      .sides {
        flex: 1;
        display: grid;
        grid-template-columns: 1fr 1fr;
        gap: 16px;
        min-height: 0;
      }
      section {
        display: flex;
        flex-direction: column;
        gap: 8px;
        min-width: 0;
        min-height: 0;
        padding: 12px;
        border: 1px solid var(--line);
        border-radius: var(--radius);
      }
      section > .text {
        flex: 1;
        overflow: auto;
        overflow-wrap: anywhere;
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 8px;
      }
      footer {
        display: flex;
        justify-content: flex-end;
      }
      @media (max-width: 700px) {
        .sides {
          grid-template-columns: 1fr;
          overflow: auto;
        }
      }
    `,
  ];
  @property({ attribute: false }) asked!: Asked;
  @state() private branches: readonly Branch[] | undefined;
  @state() private sides: readonly [number, number] = [0, 1];
  @state() private error = "";

  override connectedCallback(): void {
    super.connectedCallback();
    void this.load();
  }

  private async load(): Promise<void> {
    const { link, sessionKey, entryId } = this.asked;
    try {
      const { branches } = await link.request("chat.branches", { sessionKey, entryId });
      const shown = Math.max(
        branches.findIndex((one) => one.shown),
        0,
      );
      this.branches = branches;
      this.sides = shown === 0 ? [0, Math.min(1, branches.length - 1)] : [shown - 1, shown];
    } catch (error) {
      this.error = failureText(error);
    }
  }

  private close(): void {
    this.remove();
  }

  private async use({ id }: Branch): Promise<void> {
    try {
      await this.asked.link.request("chat.branch", { sessionKey: this.asked.sessionKey, entryId: id });
      this.close();
    } catch (error) {
      this.error = failureText(error);
    }
  }

  private choose(side: 0 | 1, at: number): void {
    this.sides = side === 0 ? [at, this.sides[1]] : [this.sides[0], at];
  }

  private side(branches: readonly Branch[], side: 0 | 1): TemplateResult | typeof nothing {
    const branch = branches[this.sides[side]];
    if (!branch) return nothing;
    const copy = (text: string): void => void copyText(text).catch((error: unknown) => (this.error = failureText(error)));
    return html`<section aria-label=${t`Answer ${this.sides[side] + 1} of ${branches.length}`}>
      <header>
        <oc-select
          label=${side === 0 ? t("Answer on the left") : t("Answer on the right")}
          .value=${String(this.sides[side])}
          .options=${branches.map((_one, at) => ({ value: String(at), label: t`Answer ${at + 1}` }))}
          @choose=${({ detail }: CustomEvent<string>) => this.choose(side, Number(detail))}
        ></oc-select>
        <span class="soft">${[branch.model, moment(branch.ts)].filter(Boolean).join(" · ")}</span>
        ${
          branch.shown
            ? html`<span class="faint">${t("Shown now")}</span>`
            : this.asked.may
              ? html`<button class="small" @click=${() => void this.use(branch)}>${t("Use this answer")}</button>`
              : nothing
        }
      </header>
      <div class="text" tabindex="0">${branch.text === "" ? html`<p class="faint">${t("This answer has no text.")}</p>` : prose(branch.text, { copy })}</div>
      ${branch.cut ? html`<p class="faint">${t("Too long to show in full. The exported session has the full text.")}</p>` : nothing}
    </section>`;
  }

  protected override render(): TemplateResult {
    const { branches } = this;
    return html`<dialog ${modal()} aria-labelledby="title" @close=${this.close}>
      <h2 id="title">${t("Compare answers")}</h2>
      ${this.error === "" ? nothing : html`<div class="note bad" role="alert"><p>${this.error}</p></div>`}
      <div class="sides">${branches ? [this.side(branches, 0), this.side(branches, 1)] : nothing}</div>
      <footer><button autofocus @click=${this.close}>${t("Close")}</button></footer>
    </dialog>`;
  }
}
customElements.define("oc-compare-answers", CompareAnswers);

/** Opens the dialog in a place of the page; it goes when it is closed. */
export function openCompare(place: HTMLElement | DocumentFragment, asked: Asked): void {
  place.append(Object.assign(document.createElement("oc-compare-answers"), { asked }));
}
