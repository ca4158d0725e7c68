/** What a tree of sub-agents is made of. */
export interface Started {
  readonly sessionKey: string;
  readonly requesterSessionKey: string;
  readonly createdAt: number;
}

/** A sub-agent with those that it started. */
export interface SubagentBranch<T extends Started> {
  readonly subagent: T;
  readonly children: readonly SubagentBranch<T>[];
}

/** A session that started sub-agents and is none itself, or none that is known. */
export interface SubagentRoot<T extends Started> {
  readonly sessionKey: string;
  readonly children: readonly SubagentBranch<T>[];
}

/** A branch with everything below it: parents before their children. */
export const flatBranch = <T extends Started>({ subagent, children }: SubagentBranch<T>): readonly T[] => [subagent, ...children.flatMap(flatBranch)];

interface Reporting extends Started {
  readonly status: string;
  readonly reported: boolean;
}

const isActive = ({ status }: Reporting): boolean => status === "queued" || status === "running";
const isUnreported = ({ status, reported }: Reporting): boolean => !reported && status !== "killed";

/** For how many of its own a sub-agent waits before it reports. 0: it works itself, or nothing keeps it. */
export function waitsFor({ subagent, children }: SubagentBranch<Reporting>): number {
  if (isActive(subagent) || !isUnreported(subagent)) return 0;
  return children.filter((child) => isActive(child.subagent) || isUnreported(child.subagent)).length;
}

/** Who started whom, of what `subagents.list` gives: sessions with the newest sub-agent first, sub-agents in the order in which they were started. */
export function subagentTree<T extends Started>(subagents: readonly T[]): readonly SubagentRoot<T>[] {
  const byRequester = Map.groupBy(subagents, ({ requesterSessionKey }) => requesterSessionKey);
  const keys = new Set(subagents.map(({ sessionKey }) => sessionKey));
  const below = (key: string): readonly SubagentBranch<T>[] =>
    (byRequester.get(key) ?? []).map((subagent) => ({ subagent, children: below(subagent.sessionKey) }));
  const newest = ({ children }: SubagentRoot<T>): number => Math.max(...children.flatMap(flatBranch).map(({ createdAt }) => createdAt));
  const roots = [...byRequester.keys()].filter((key) => !keys.has(key));
  return roots.map((sessionKey) => ({ sessionKey, children: below(sessionKey) })).toSorted((a, b) => newest(b) - newest(a));
}
