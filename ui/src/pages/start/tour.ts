import { css, html, LitElement, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { styleMap } from "../../look/style-map.ts";
import { sheet } from "../../look/sheet.ts";

interface Stop {
  /** The page whose entry in the menu is shown. */
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

const STOPS: readonly Stop[] = [
  {
    page: "chat",
    title: "Talk to it here",
    text: "Every conversation is kept: this page, the terminal and your channels see the same ones. Type / for commands, and stop an answer with Escape.",
  },
  {
    page: "chat",
    title: "It works with tools, and asks first",
    text: "It can read and write files, run commands and look things up. Each call is a card in the chat; what could do harm waits until you allow it.",
  },
  {
    page: "trace",
    title: "See why it did what it did",
    text: "A trace shows one answer as a picture over time: waiting, model calls with tokens and cost, tools and delivery, and in words what went wrong.",
  },
  {
    page: "channels",
    title: "Reach it from anywhere",
    text: "Channels are the platforms it is on. Here you see whether they are connected, and let in who may write.",
  },
  {
    page: "config",
    title: "Change anything, and take it back",
    text: "Settings as a form or as text, checked while you type. You see what will change and whether something restarts before it is saved; earlier versions can be restored.",
  },
  { page: "overview", title: "One look tells whether all is well", text: "What runs now, what went wrong lately and what to do about it, and what it costs." },
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
          top 0.2s,
          left 0.2s;
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

  protected override firstUpdated(): void {
    this.renderRoot.querySelector("dialog")?.showModal();
    this.renderRoot.querySelector<HTMLElement>("button.primary")?.focus();
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
    return html`<dialog aria-labelledby="title" aria-describedby="text" data-resized=${this.size} @keydown=${this.key} @close=${() => this.end(false)}>
      <div class="light" style=${styleMap(light)}></div>
      <div class="box" style=${styleMap(box)}>
        <span class="faint">${this.at + 1} of ${STOPS.length}</span>
        <div aria-live="polite">
          <h2 id="title">${stop.title}</h2>
          <p id="text">${stop.text}</p>
        </div>
        <div class="row">
          <button class="plain" @click=${() => this.end(false)}>Skip</button>
          <span class="grow"></span>
          <button ?disabled=${this.at === 0} @click=${() => this.step(-1)}>Back</button>
          <button class="primary" @click=${() => this.step(1)}>${last ? "Done" : "Next"}</button>
        </div>
      </div>
    </dialog>`;
  }
}
customElements.define("oc-tour", Tour);
