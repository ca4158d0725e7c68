import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { clip } from "../base/text.ts";
import type { MethodResult } from "../protocol/index.ts";

type Invoke = MethodResult<"node.invokes">["invokes"][number];
/** It changes when the command ends. */
type Entry = { -readonly [K in keyof Invoke]: Invoke[K] };

/** The last commands of each node, for people who look. Kept in memory, without parameters and results. */
export interface RecentInvokes {
  /** Notes the command, and how it ends. */
  follow<T>(asked: { readonly nodeId: string; readonly command: string }, work: () => Promise<T>): Promise<T>;
  /** Newest first. */
  list(nodeId: string): Invoke[];
}

const MOST = 20;
const MOST_NODES = 500;
const MOST_MESSAGE = 300;

export function createRecentInvokes({ clock }: { readonly clock: Clock }): RecentInvokes {
  const byNode = new Map<string, Entry[]>();
  function note(nodeId: string, invoke: Entry): void {
    const known = byNode.get(nodeId) ?? [];
    known.unshift(invoke);
    known.length = Math.min(known.length, MOST);
    byNode.delete(nodeId);
    byNode.set(nodeId, known);
    const [oldest] = byNode.keys();
    if (byNode.size > MOST_NODES && oldest !== undefined) byNode.delete(oldest);
  }

  return {
    async follow({ nodeId, command }, work) {
      const startedAt = clock.monotonic();
      const invoke: Entry = { command, startedAtMs: clock.now(), outcome: "running" };
      note(nodeId, invoke);
      try {
        const result = await work();
        invoke.outcome = "done";
        return result;
      } catch (error) {
        invoke.outcome = "failed";
        invoke.message = clip(messageOf(error), MOST_MESSAGE);
        throw error;
      } finally {
        invoke.durationMs = Math.max(0, Math.round(clock.monotonic() - startedAt));
      }
    },
    list: (nodeId) => (byNode.get(nodeId) ?? []).map((invoke) => ({ ...invoke })),
  };
}
