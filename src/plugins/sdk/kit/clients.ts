/** Connections that accounts send with, and things that are looked up once. */
import type { ChannelAccount } from "./accounts.ts";

export interface ClientsSpec<A extends ChannelAccount, C> {
  /** What the client depends on: another one is made when it changes. */
  key(account: A): string;
  open(account: A): C;
  close?(client: C): void;
}

export interface Clients<A extends ChannelAccount, C> extends Disposable {
  of(account: A): C;
}

/** One client for each account, made with its first use. */
export function createClients<A extends ChannelAccount, C>({ key, open, close }: ClientsSpec<A, C>): Clients<A, C> {
  const known = new Map<string, { readonly key: string; readonly client: C }>();
  return {
    of(account) {
      const wanted = key(account);
      const before = known.get(account.accountId);
      if (before?.key === wanted) return before.client;
      if (before) close?.(before.client);
      const client = open(account);
      known.set(account.accountId, { key: wanted, client });
      return client;
    },
    [Symbol.dispose]() {
      for (const { client } of known.values()) close?.(client);
      known.clear();
    },
  };
}

/** A map of its newest entries. */
export interface Recent<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
}

/** At most so many entries: the oldest go first. */
export function createRecent<T>(most: number): Recent<T> {
  const entries = new Map<string, T>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      const [oldest] = entries.keys();
      if (entries.size > most && oldest !== undefined) entries.delete(oldest);
    },
    delete: (key) => void entries.delete(key),
  };
}

export interface Cache<T> {
  get(key: string): Promise<T>;
  /** What is known without asking. */
  peek(key: string): Promise<T> | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
}

/** Asks once for each key; a failure is not remembered. The oldest entries go first. */
export function createCache<T>(load: (key: string) => Promise<T>, most = 1000): Cache<T> {
  const known = createRecent<Promise<T>>(most);
  return {
    get(key) {
      const before = known.get(key);
      if (before) return before;
      const asked = load(key);
      asked.catch(() => {
        if (known.get(key) === asked) known.delete(key);
      });
      known.set(key, asked);
      return asked;
    },
    peek: (key) => known.get(key),
    set: (key, value) => known.set(key, Promise.resolve(value)),
    delete: known.delete,
  };
}
