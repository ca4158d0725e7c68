/** Those who want to hear of something, in the order they came. */
export interface Listeners<T> {
  emit(value: T): void;
  on(listener: (value: T) => void): Disposable;
}

export function createListeners<T>(): Listeners<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    emit(value) {
      for (const listener of listeners) listener(value);
    },
    on(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
