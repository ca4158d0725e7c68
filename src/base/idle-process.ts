/** Notices when this process has nothing left to do and would exit although something is still awaited. */
export interface IdleProcess {
  /** `onIdle` is called when nothing is left that could wake this process. */
  watch(onIdle: () => void): Disposable;
}

export function createIdleProcess(): IdleProcess {
  const waiting = new Set<() => void>();
  // The immediate keeps the process alive until the listeners have been called.
  const onBeforeExit = (): void => void setImmediate(() => [...waiting].forEach((onIdle) => onIdle()));
  return {
    watch(onIdle) {
      if (waiting.size === 0) process.on("beforeExit", onBeforeExit);
      waiting.add(onIdle);
      return {
        [Symbol.dispose]() {
          waiting.delete(onIdle);
          if (waiting.size === 0) process.off("beforeExit", onBeforeExit);
        },
      };
    },
  };
}
