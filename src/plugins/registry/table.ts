import { AppError } from "../../base/errors.ts";
import type { Owner, Registration } from "./owner.ts";

/** Registrations of one kind, in the order in which they were made. */
export interface Table<T> {
  readonly size: number;
  get(key: string): Registration<T> | undefined;
  /** Who has the key, if it is not for plugins. */
  reserved(key: string): string | undefined;
  /** The same array until something changes. */
  list(): readonly Registration<T>[];
  /** Refuses a key that is taken with `CONFLICT`, naming both owners; the first stays. Disposing takes it away. */
  add(key: string, owner: Owner, value: T): Disposable;
}

export interface TableOptions {
  /** As messages name the kind: `gateway method`, `command`, … */
  readonly kind: string;
  /** Why a key belongs to the gateway itself, if so. */
  readonly reserved?: (key: string) => string | undefined;
}

export function createTable<T>({ kind, reserved }: TableOptions): Table<T> {
  const rows = new Map<string, Registration<T>>();
  let listed: readonly Registration<T>[] | undefined;

  function refuse(key: string, owner: Owner, holder: string): never {
    throw new AppError("CONFLICT", `${kind} already registered: ${key} (requested by ${owner.pluginId}, used by ${holder})`, {
      details: { kind, key, pluginId: owner.pluginId, holder },
    });
  }

  return {
    get size() {
      return rows.size;
    },
    get: (key) => rows.get(key),
    reserved: (key) => reserved?.(key),
    list: () => (listed ??= [...rows.values()]),
    add(key, owner, value) {
      const core = reserved?.(key);
      if (core !== undefined) refuse(key, owner, core);
      const taken = rows.get(key);
      if (taken) refuse(key, owner, taken.owner.pluginId === owner.pluginId ? "it itself" : taken.owner.pluginId);
      const row: Registration<T> = { owner, value };
      rows.set(key, row);
      listed = undefined;
      return {
        [Symbol.dispose]() {
          if (rows.get(key) !== row) return;
          rows.delete(key);
          listed = undefined;
        },
      };
    },
  };
}
