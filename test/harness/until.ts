import { setTimeout as wait } from "node:timers/promises";

const PATIENCE = { timeout: 15_000, interval: 20 };

/** Waits until it is so; says what was there instead when it never is. Without vitest, so that campaigns can use it as well. */
export async function until(isSo: () => boolean | Promise<boolean>, otherwise: () => string, timeout = PATIENCE.timeout): Promise<void> {
  const end = performance.now() + timeout;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(otherwise());
    await wait(PATIENCE.interval);
  }
}
