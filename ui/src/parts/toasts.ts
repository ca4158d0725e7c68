import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { createSignal, Watch, type WritableSignal } from "../base/signal.ts";
import { icon } from "../look/icons.ts";
import { sheet } from "../look/sheet.ts";
import { t } from "../words/words.ts";

/** What can be done about a message, such as undoing what it reports. */
interface ToastAction {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
  readonly action?: ToastAction | undefined;
}

/** Short messages that go away by themselves. */
export interface Toasts {
  readonly list: WritableSignal<readonly Toast[]>;
  /** One with an action stays longer. */
  say(text: string, action?: ToastAction): void;
  /** Stays longer. */
  warn(text: string): void;
  /** While someone points at one or has the focus in it, none goes away. */
  hold(isHeld: boolean): void;
}

export function createToasts(): Toasts {
  const list = createSignal<readonly Toast[]>([]);
  let count = 0;
  let held = false;
  const overdue = new Set<number>();
  const expire = (): void => {
    if (held || overdue.size === 0) return;
    list.update((all) => all.filter(({ id }) => !overdue.has(id)));
    overdue.clear();
  };
  const add = (text: string, bad: boolean, action?: ToastAction): void => {
    const toast = { id: (count += 1), text, bad, action };
    // The same said again is not two things, unless each can be undone.
    list.update((all) => [...all.filter((other) => other.text !== text || other.bad !== bad || other.action !== undefined).slice(-2), toast]);
    const end = (): void => {
      overdue.add(toast.id);
      expire();
    };
    setTimeout(end, bad || action ? 10_000 : 4000);
  };
  const hold = (isHeld: boolean): void => {
    held = isHeld;
    expire();
  };
  return { list, say: (text, action) => add(text, false, action), warn: (text) => add(text, true), hold };
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
        top: 72px;
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
      @media (max-width: 760px) {
        :host {
          top: 112px;
        }
      }
    `,
  ];
  toasts!: Toasts;
  private readonly list = new Watch(this, () => this.toasts.list);

  protected override render(): TemplateResult {
    // The pointer leaves no message that is taken away under it.
    const dismiss = (id: number): void => {
      this.toasts.list.update((all) => all.filter((toast) => toast.id !== id));
      this.toasts.hold(false);
    };
    const holding = (isHeld: boolean) => (): void => this.toasts.hold(isHeld);
    // A message that appears below a resting pointer is not pointed at.
    const pointed = ({ movementX, movementY }: PointerEvent): void => {
      if (movementX !== 0 || movementY !== 0) this.toasts.hold(true);
    };
    const act = ({ id, action }: Toast): void => {
      dismiss(id);
      action?.run();
    };
    return html`<div
      role="status"
      aria-live="polite"
      class="stack"
      @pointermove=${pointed}
      @pointerleave=${holding(false)}
      @focusin=${holding(true)}
      @focusout=${holding(false)}
    >
      ${this.list.value.map(
        (toast) =>
          html`<div class="toast ${toast.bad ? "bad" : ""}">
            ${icon(toast.bad ? "warn" : "check")}<span class="grow">${toast.text}</span>
            ${toast.action ? html`<button class="small" @click=${() => act(toast)}>${toast.action.label}</button>` : nothing}
            <button class="plain small" aria-label=${t("Dismiss")} @click=${() => dismiss(toast.id)}>${icon("close", 14)}</button>
          </div>`,
      )}
    </div>`;
  }
}
customElements.define("oc-toasts", ToastStack);
