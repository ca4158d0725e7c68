import { css, html, LitElement, type TemplateResult } from "lit";
import { createSignal, Watch, type WritableSignal } from "../base/signal.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

/** Short messages that go away by themselves. */
export interface Toasts {
  readonly list: WritableSignal<readonly Toast[]>;
  say(text: string): void;
  /** Stays longer. */
  warn(text: string): void;
}

export function createToasts(): Toasts {
  const list = createSignal<readonly Toast[]>([]);
  let count = 0;
  const add = (text: string, bad: boolean): void => {
    const toast = { id: (count += 1), text, bad };
    // The same said again is not two things.
    list.update((all) => [...all.filter((other) => other.text !== text || other.bad !== bad).slice(-2), toast]);
    setTimeout(() => list.update((all) => all.filter(({ id }) => id !== toast.id)), bad ? 10_000 : 4000);
  };
  return { list, say: (text) => add(text, false), warn: (text) => add(text, true) };
}

/** Where toasts appear. */
export class ToastStack extends LitElement {
  static override styles = [
    sheet,
    css`
      :host {
        position: fixed;
        inset-inline-end: 16px;
        /* Below the head of a page; the foot is where things are typed and sent. */
        top: 64px;
        z-index: 60;
        display: flex;
        flex-direction: column;
        gap: 8px;
        max-width: min(440px, calc(100vw - 32px));
      }
      .toast {
        display: flex;
        gap: 10px;
        align-items: flex-start;
        padding: 10px 12px;
        background: var(--raised);
        border: 1px solid var(--line-strong);
        border-radius: var(--radius);
        box-shadow: var(--shadow-high);
        overflow-wrap: anywhere;
      }
      .bad {
        border-color: var(--bad);
      }
      @media (max-width: 720px) {
        :host {
          top: 104px;
        }
      }
    `,
  ];
  toasts!: Toasts;
  private readonly list = new Watch(this, () => this.toasts.list);

  protected override render(): TemplateResult {
    return html`<div role="status" aria-live="polite" class="stack">
      ${this.list.value.map(
        ({ id, text, bad }) =>
          html`<div class="toast ${bad ? "bad" : ""}">
            ${icon(bad ? "warn" : "check")}<span class="grow">${text}</span>
            <button class="plain small" aria-label="Dismiss" @click=${() => this.toasts.list.update((all) => all.filter((toast) => toast.id !== id))}>
              ${icon("close", 14)}
            </button>
          </div>`,
      )}
    </div>`;
  }
}
customElements.define("oc-toasts", ToastStack);
