import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { plural } from "../../base/figures.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { QueuedMessage } from "./chat-view.ts";
import { t } from "../../words/words.ts";

/** What the reader wants with a message that waits. */
export type QueueWish = "steer" | "edit" | "remove";

/** Messages that wait until the answer is finished, above the box. Says `queue` {wish, message}. */
export class MessageQueue extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: block;
      }
      ul {
        list-style: none;
        margin: 0;
        padding: 3px 6px 3px 14px;
        max-height: 30vh;
        overflow-y: auto;
        border-bottom: 1px solid var(--line);
      }
      li {
        display: flex;
        align-items: center;
        gap: 8px;
        min-height: 34px;
        font-size: var(--type-ui);
      }
      li > svg {
        flex: none;
        color: var(--ink-faint);
      }
      .place {
        flex: none;
        color: var(--ink-faint);
      }
      button {
        flex: none;
        min-height: 30px;
        color: var(--ink-soft);
      }
      button.icon {
        width: 32px;
      }
      @media (max-width: 720px) {
        ul {
          padding-inline: 10px 2px;
        }
        button.icon {
          width: 40px;
        }
        .place {
          display: none;
        }
      }
    `,
  ];
  @property({ attribute: false }) messages: readonly QueuedMessage[] = [];
  /** The gateway can show a message to the run that goes on. */
  @property({ type: Boolean }) canSteer = false;
  /** The gateway gives back the files of a message. */
  @property({ type: Boolean }) canFetch = false;
  @property({ type: Boolean }) may = true;
  /** Those about which the gateway was asked. */
  @state() private busy: ReadonlySet<string> = new Set();

  private say(wish: QueueWish, message: QueuedMessage): void {
    this.busy = new Set([...this.busy, message.runId]);
    const done = (): void => void (this.busy = new Set([...this.busy].filter((id) => id !== message.runId)));
    this.dispatchEvent(new CustomEvent("queue", { detail: { wish, message, done } }));
  }

  private item(message: QueuedMessage, at: number): TemplateResult {
    const { runId, text, images } = message;
    const off = this.busy.has(runId) || !this.may;
    const files = images === 0 ? "" : plural(images, t("attachment"), t("attachments"));
    return html`<li>
      ${icon("queue", 14)}<span class="place">${at === 0 ? t("Up next") : t("Then")}</span>
      <span class="cut grow" dir="auto" title=${text}>${text === "" ? files : text}</span>
      ${text !== "" && files !== "" ? html`<span class="faint">${files}</span>` : nothing}
      ${
        this.canSteer
          ? html`<button
              class="plain"
              title=${t("Show it to the agent now, without waiting for the answer")}
              ?disabled=${off}
              @click=${() => this.say("steer", message)}
            >
              ${t("Send now")}
            </button>`
          : nothing
      }
      ${
        images > 0 && !this.canFetch
          ? nothing
          : html`<button
              class="plain icon"
              aria-label=${t("Edit queued message")}
              title=${t("Edit")}
              ?disabled=${off}
              @click=${() => this.say("edit", message)}
            >
              ${icon("edit", 15)}
            </button>`
      }
      <button class="plain icon" aria-label=${t("Remove queued message")} title=${t("Remove")} ?disabled=${off} @click=${() => this.say("remove", message)}>
        ${icon("close", 15)}
      </button>
    </li>`;
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.messages.length === 0) return nothing;
    return html`<ul aria-label=${t("Queued messages")}>
      ${this.messages.map((message, at) => this.item(message, at))}
    </ul>`;
  }
}
customElements.define("oc-queue", MessageQueue);
