import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { styleMap } from "../../look/style-map.ts";
import { sheet } from "../../look/sheet.ts";
import { modal } from "../../parts/modal.ts";
import { t } from "../../words/words.ts";

interface Stop {
  /** The page whose entry in the menu is shown. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

const STOPS: readonly Stop[] = [
  {
    page: "chat",
    title: t("Chat here"),
    text: t("Every chat is saved and available on this page, in the terminal and in your channels. Type / for commands and press Escape to stop an answer."),
  },
  {
    page: "chat",
    title: t("It uses tools and asks first"),
    text: t("It can read and write files, run commands and look things up. Each call is a card in the chat; risky ones wait for your approval."),
  },
  {
    page: "trace",
    title: t("See why it did what it did"),
    text: t("A trace shows one answer as a timeline: waiting, model calls with tokens and cost, tools, delivery, and what went wrong."),
  },
  {
    page: "channels",
    title: t("Reach it from anywhere"),
    text: t("Channels connect it to your messaging apps. Check their connections here and approve who can chat."),
  },
  {
    page: "config",
    title: t("Change anything, and undo it"),
    text: t(
      "Edit settings as a form or as text, checked as you type. Before saving, you see what changes and whether anything restarts. Earlier versions can be restored.",
    ),
  },
  {
    page: "overview",
    title: t("See its health at a glance"),
    text: t("See what is running, recent problems and how to fix them, and what it costs."),
  },
];

const GAP = 12;
const WIDTH = 340;

/** The menu's entry of a page; on a phone the one that leads to it. */
function entryOf(page: string): DOMRect | undefined {
  const menu = document.querySelector("oc-app")?.shadowRoot?.querySelector("oc-menu")?.shadowRoot;
  const candidates = [menu?.querySelector(`a[href="${page}"]`), menu?.querySelector("button.phone")];
  return candidates.map((found) => found?.getBoundingClientRect()).find((box) => box !== undefined && box.width > 0);
}

/** A walk through the menu. Says `done` {finished}. */
export class Tour extends LitElement {
  static override styles = [
    sheet,
    css`
      dialog {
        position: fixed;
        inset: 0;
        width: 100vw;
        height: 100dvh;
        max-width: none;
        max-height: none;
        margin: 0;
        padding: 0;
        border: 0;
        overflow: hidden;
        background: none;
        color: var(--ink);
      }
      dialog::backdrop {
        background: none;
      }
      .light {
        position: fixed;
        border-radius: var(--radius-small);
        box-shadow: 0 0 0 200vmax var(--veil);
        outline: 2px solid var(--accent);
        outline-offset: 2px;
        transition:
          top var(--calm),
          left var(--calm);
      }
      .box {
        position: fixed;
        width: min(340px, calc(100vw - 24px));
        padding: 18px;
        background: var(--raised);
        border: 1px solid var(--line);
        border-radius: var(--radius);
        box-shadow: var(--shadow-high);
      }
      .box p {
        margin: 8px 0 16px;
      }
    `,
  ];
  @property({ type: Number }) at = 0;
  @state() private size = 0;
  private readonly onResize = (): void => {
    this.size += 1;
  };

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("resize", this.onResize);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("resize", this.onResize);
  }

  private end(finished: boolean): void {
    this.dispatchEvent(new CustomEvent("done", { detail: { finished } }));
  }

  private step(by: number): void {
    const next = this.at + by;
    if (next >= STOPS.length) this.end(true);
    else this.at = Math.max(0, next);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "ArrowRight") this.step(1);
    else if (event.key === "ArrowLeft") this.step(-1);
    else return;
    event.preventDefault();
  }

  /** Beside the entry, above it on a phone; always within the window. */
  private places(entry: DOMRect | undefined): { readonly light: Record<string, string>; readonly box: Record<string, string> } {
    if (!entry) return { light: { top: "-20px", left: "-20px", width: "0", height: "0" }, box: { top: "20%", left: `max(12px, calc(50vw - ${WIDTH / 2}px))` } };
    const light = { top: `${entry.top}px`, left: `${entry.left}px`, width: `${entry.width}px`, height: `${entry.height}px` };
    const beside = entry.right + GAP + WIDTH < innerWidth;
    if (beside) return { light, box: { top: `min(${entry.top}px, calc(100dvh - 300px))`, left: `${entry.right + GAP}px` } };
    return { light, box: { bottom: `${innerHeight - entry.top + GAP}px`, left: `${Math.max(12, Math.min(entry.left, innerWidth - WIDTH - 12))}px` } };
  }

  protected override render(): TemplateResult {
    const stop = STOPS[this.at]!;
    const { light, box } = this.places(entryOf(stop.page));
    const last = this.at === STOPS.length - 1;
    return html`<dialog
      ${modal()}
      aria-labelledby="title"
      aria-describedby="text"
      data-resized=${this.size}
      @keydown=${this.key}
      @close=${() => this.end(false)}
    >
      <div class="light" style=${styleMap(light)}></div>
      <div class="box" style=${styleMap(box)}>
        <span class="faint">${t`${this.at + 1} of ${STOPS.length}`}</span>
        <div aria-live="polite">
          <h2 id="title">${stop.title}</h2>
          <p id="text">${stop.text}</p>
        </div>
        <div class="row">
          <button class="plain" @click=${() => this.end(false)}>${t("Skip")}</button>
          <span class="grow"></span>
          <button ?disabled=${this.at === 0} @click=${() => this.step(-1)}>${t("Back")}</button>
          <button class="primary" autofocus @click=${() => this.step(1)}>${last ? t("Done") : t("Next")}</button>
        </div>
      </div>
    </dialog>`;
  }
}
customElements.define("oc-tour", Tour);
