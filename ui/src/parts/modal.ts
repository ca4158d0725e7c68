import { nothing } from "lit";
import { AsyncDirective, directive } from "lit/async-directive.js";
import type { ElementPart } from "lit/directive.js";

/** The element that has the focus, however deep it stands in others. */
function focused(): HTMLElement | undefined {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at instanceof HTMLElement && at !== document.body ? at : undefined;
}

/** Remembers what has the focus. What is returned gives it back, where the focus went away with what had it. */
export function holdFocus(): () => void {
  const before = focused();
  return () => queueMicrotask(() => void (focused() === undefined && before?.isConnected && before.focus()));
}

class Modal extends AsyncDirective {
  private giveBack: (() => void) | undefined;

  render(): unknown {
    return nothing;
  }

  override update({ element }: ElementPart): unknown {
    const dialog = element as HTMLDialogElement;
    this.giveBack ??= holdFocus();
    // A press on words of it leaves the focus in it, and with it the keys.
    dialog.tabIndex = -1;
    // It is in the document once everything around it is drawn.
    queueMicrotask(() => void (dialog.isConnected && !dialog.open && dialog.showModal()));
    return nothing;
  }

  protected override disconnected(): void {
    this.giveBack?.();
    this.giveBack = undefined;
  }
}

/** `<dialog ${modal()}>`: it is open as long as it is drawn, and the focus then returns to where it was. */
export const modal = directive(Modal);

/** Whether an event comes from a dialog: its keys are not for what is behind it. */
export const isInDialog = (event: Event): boolean => event.composedPath().some((node) => node instanceof HTMLDialogElement);
