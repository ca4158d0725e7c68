import { createHookLog, type HookLog, type HookLogEntry } from "../../hooks/index.ts";
import type { TurnHooks } from "../../agent/index.ts";
import type { Inbound } from "./inbound-record.ts";

type Ids = readonly Pick<Inbound, "id">[];

/** What plugins said about messages that are on their way to a lane, for `why`. */
export interface HookNotes {
  /** Asks a deciding hook and keeps what was said. */
  asking<T>(inbound: Pick<Inbound, "id">, ask: (logged: HookLog["hooks"]) => T | Promise<T>): Promise<T>;
  of(group: Ids): readonly HookLogEntry[];
  /** The lane knows it now, or the row does. */
  forget(group: Ids): void;
}

export function createHookNotes(hooks: TurnHooks, now: () => number): HookNotes {
  const said = new Map<number, readonly HookLogEntry[]>();
  return {
    async asking({ id }, ask) {
      const hookLog = createHookLog(hooks, now);
      const outcome = await ask(hookLog.hooks);
      if (hookLog.entries.length > 0) said.set(id, [...(said.get(id) ?? []), ...hookLog.entries]);
      return outcome;
    },
    of: (group) => group.flatMap(({ id }) => said.get(id) ?? []),
    forget(group) {
      for (const { id } of group) said.delete(id);
    },
  };
}
