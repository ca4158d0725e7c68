import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { failureText } from "../../link/failure.ts";
import type { Link } from "../../link/link.ts";
import { icon } from "../../look/icons.ts";
import { sheet } from "../../look/sheet.ts";
import type { Conversation } from "./model/conversation.ts";
import type { Talk, TalkPhase, TalkState } from "./talk/talk.ts";
import { t } from "../../words/words.ts";

const SHOWN: Readonly<Record<TalkPhase, string>> = {
  starting: t("Opening the microphone…"),
  listening: t("Listening"),
  recognising: t("Recognising…"),
  answering: t("Waiting for the answer…"),
  speaking: t("Speaking. Talk to interrupt."),
  off: "",
};

/** Turns talk mode on and off, and says what it does. The code for it is loaded with the first click. */
export class TalkButton extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        display: contents;
      }
      button.icon {
        flex: none;
        color: var(--ink-soft);
      }
      button[aria-pressed="true"] {
        color: var(--accent);
        background: var(--accent-soft);
      }
      .talk-state {
        align-self: center;
        font-size: var(--type-ui);
        white-space: nowrap;
      }
      .talk-note {
        position: absolute;
        inset-inline: 0;
        bottom: 100%;
        margin-bottom: 8px;
      }
    `,
  ];
  @property({ attribute: false }) link!: Link;
  @property({ attribute: false }) conversation!: Conversation;
  @property({ type: Boolean }) may = true;
  @state() private now: TalkState = { phase: "off" };
  private talk: Talk | undefined;
  private following: Disposable | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.end();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    // Another conversation is on the page: what is said next is not for the one before.
    if (changed.has("conversation") && this.talk) this.end();
  }

  private end(): void {
    this.following?.[Symbol.dispose]();
    this.following = undefined;
    this.talk?.end();
    this.talk = undefined;
    this.now = { phase: "off" };
  }

  private async toggle(): Promise<void> {
    if (this.talk) return this.end();
    this.now = { phase: "starting" };
    const { conversation } = this;
    try {
      const { createTalk } = await import("./talk/talk.ts");
      if (conversation !== this.conversation || !this.isConnected || this.now.phase !== "starting") return;
      const talk = createTalk({ link: this.link, conversation });
      this.talk = talk;
      this.following = talk.state.subscribe((now) => {
        this.now = now;
        if (now.phase === "off") this.talk = undefined;
      });
    } catch (error) {
      this.now = { phase: "off", note: t`Talk mode could not be loaded: ${failureText(error)}` };
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.link?.has("talk.transcribe")) return nothing;
    const { phase, note } = this.now;
    const on = phase !== "off";
    return html`${note ? html`<div class="talk-note note warn" role="alert"><p>${note}</p></div>` : nothing}
      <span class="talk-state soft" role="status">${SHOWN[phase]}</span>
      <button
        class="icon plain"
        aria-pressed=${on}
        aria-label=${on ? t("Stop talking") : t("Talk")}
        title=${on ? t("Stop talking") : t("Talk: speak and hear the answer")}
        ?disabled=${!this.may}
        @click=${() => void this.toggle()}
      >
        ${icon("microphone")}
      </button>`;
  }
}
customElements.define("oc-talk-button", TalkButton);
