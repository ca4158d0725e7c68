import type { EventName, EventPayload, GatewayClient } from "openclaw/client";

type Listener = (payload: never) => void;

/** Who listens to what, over as many connections as there will be. */
export interface Listeners {
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): Disposable;
  onFresh(listener: () => void): Disposable;
  tellFresh(): void;
  /** Events come from this connection from now on. */
  attach(client: GatewayClient): void;
}

export function createListeners(): Listeners {
  const fresh = new Set<() => void>();
  const byEvent = new Map<EventName, Set<Listener>>();
  let attached: GatewayClient | undefined;

  const hear = (event: EventName, known: ReadonlySet<Listener>): void =>
    void attached?.on(event, (payload) => {
      for (const listener of known) listener(payload as never);
    });

  return {
    on(event, listener) {
      let known = byEvent.get(event);
      if (!known) {
        known = new Set();
        byEvent.set(event, known);
        hear(event, known);
      }
      known.add(listener);
      return { [Symbol.dispose]: () => void known.delete(listener) };
    },
    onFresh(listener) {
      fresh.add(listener);
      return { [Symbol.dispose]: () => void fresh.delete(listener) };
    },
    tellFresh() {
      for (const listener of fresh) listener();
    },
    attach(client) {
      attached = client;
      for (const [event, known] of byEvent) hear(event, known);
    },
  };
}
