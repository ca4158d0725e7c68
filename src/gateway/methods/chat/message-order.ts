/**
 * Messages of one session that are on their way to the disk. A request that ends runs waits for those before it, so that it reaches them, and those behind it
 * wait until it has: a client need not wait for one answer before it sends the next request.
 */
export interface MessageOrder {
  /** Accepts a message: at once, or when the stop before it has reached its runs. */
  accept<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
  /** Carries out what ends runs when the messages before are accepted; those behind it wait for that. */
  stop<T>(sessionKey: string, work: () => Promise<T> | T): Promise<T>;
}

interface Session {
  /** The newest stop that has not reached its runs. */
  stop: Promise<unknown> | undefined;
  /** Messages behind it. */
  messages: Set<Promise<unknown>>;
}

export function createMessageOrder(): MessageOrder {
  const sessions = new Map<string, Session>();

  function opened(sessionKey: string): Session {
    const session = sessions.get(sessionKey) ?? { stop: undefined, messages: new Set() };
    sessions.set(sessionKey, session);
    return session;
  }

  function closeIdle(sessionKey: string, { stop, messages }: Session): void {
    if (stop === undefined && messages.size === 0) sessions.delete(sessionKey);
  }

  return {
    accept(sessionKey, work) {
      const session = opened(sessionKey);
      const { stop, messages } = session;
      const accepted = stop ? stop.then(work, work) : work();
      messages.add(accepted);
      const leave = (): void => {
        messages.delete(accepted);
        closeIdle(sessionKey, session);
      };
      accepted.then(leave, leave);
      return accepted;
    },
    stop(sessionKey, work) {
      const session = opened(sessionKey);
      const stopped = Promise.allSettled([session.stop, ...session.messages]).then(work);
      session.stop = stopped;
      session.messages = new Set();
      const leave = (): void => {
        if (session.stop === stopped) session.stop = undefined;
        closeIdle(sessionKey, session);
      };
      stopped.then(leave, leave);
      return stopped;
    },
  };
}
