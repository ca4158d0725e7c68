import { lazy } from "../../base/lazy.ts";
import type { Delivery } from "./delivery.ts";

/** Delivery whose code is loaded when something is sent, or is found unsent. */
export function lazyDelivery(load: () => Promise<Delivery>): Delivery {
  let loaded: Delivery | undefined;
  /** Requests on their way to the outbox. */
  let sending = 0;
  const listeners = new Set<Parameters<Delivery["onSettled"]>[0]>();
  const open = lazy(async () => {
    loaded = await load();
    loaded.onSettled((row) => {
      for (const listener of listeners) listener(row);
    });
    return loaded;
  });
  return {
    prepare: async (...args) => (await open()).prepare(...args),
    kick: () => void open().then((delivery) => delivery.kick()),
    async send(...args) {
      sending += 1;
      try {
        return await (await open()).send(...args);
      } finally {
        sending -= 1;
      }
    },
    resume: async () => (await open()).resume(),
    attach(live, deliver) {
      const held = new DisposableStack();
      open().then(
        (delivery) => void (held.disposed || held.use(delivery.attach(live, deliver))),
        () => {}, // The sender gets the error.
      );
      return held;
    },
    onSettled(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    open: () => (loaded?.open() ?? 0) + sending,
    isBusy: (address) => (loaded ? loaded.isBusy(address) : open.started() !== undefined),
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
