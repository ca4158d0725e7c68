import type { ReactiveController, ReactiveControllerHost } from "lit";

/** A value that tells when it changes. */
export interface Signal<T> {
  readonly value: T;
  /** Called after each change, not at once. */
  subscribe(listener: (value: T) => void): Disposable;
}

export interface WritableSignal<T> extends Signal<T> {
  set(value: T): void;
  update(change: (value: T) => T): void;
}

export function createSignal<T>(initial: T): WritableSignal<T> {
  const listeners = new Set<(value: T) => void>();
  let current = initial;
  const set = (value: T): void => {
    if (Object.is(value, current)) return;
    current = value;
    for (const listener of listeners) listener(value);
  };
  return {
    get value() {
      return current;
    },
    set,
    update: (change) => set(change(current)),
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}

/** Draws an element again when a signal changes, while the element is on the page. */
export class Watch<T> implements ReactiveController {
  private subscription: Disposable | undefined;
  private readonly host: ReactiveControllerHost;
  private readonly signalOf: () => Signal<T>;
  private readonly onChange: ((value: T) => void) | undefined;

  constructor(host: ReactiveControllerHost, signalOf: () => Signal<T>, onChange?: (value: T) => void) {
    this.host = host;
    this.signalOf = signalOf;
    this.onChange = onChange;
    host.addController(this);
  }

  get value(): T {
    return this.signalOf().value;
  }

  hostConnected(): void {
    this.subscription = this.signalOf().subscribe((value) => {
      this.onChange?.(value);
      this.host.requestUpdate();
    });
  }

  hostDisconnected(): void {
    this.subscription?.[Symbol.dispose]();
    this.subscription = undefined;
  }
}
