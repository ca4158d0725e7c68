import { lazy } from "../../base/lazy.ts";
import type { Store } from "../../store/index.ts";

/** Which commands of plugins were begun: one that a process died in is not run again by the next, which could die of it as well. */
export interface BegunCommands {
  /** Persists that the command of this message begins. False when a process before this one had begun it. */
  begin(messageKey: string): Promise<boolean>;
}

const META_KEY = "commands.begun";
/** More commands than ever run at the same time, with those that ended a moment ago. */
const MOST = 200;

export function createBegunCommands(store: Pick<Store, "read" | "write">): BegunCommands {
  const earlier = lazy(async () => {
    const value = await store.read("meta.get", { key: META_KEY });
    return new Set(Array.isArray(value) ? value.filter((one) => typeof one === "string") : []);
  });
  const own = new Set<string>();
  return {
    async begin(messageKey) {
      const before = await earlier();
      if (before.has(messageKey)) return false;
      own.add(messageKey);
      await store.write("meta.set", { key: META_KEY, value: [...before, ...own].slice(-MOST) });
      return true;
    },
  };
}
