import type { HookOutcome } from "../../hooks/index.ts";
import type { Store } from "../../store/index.ts";
import { toolFacts, toolName } from "../catalog.ts";
import type { ToolReach } from "../declaration.ts";

/** A question to the operator, in the shape of what a policy answers. */
type Wish = Pick<HookOutcome<"before_tool_call">, "requireApproval">;

export interface TaintSettings {
  /** Default false. */
  readonly enabled?: boolean | undefined;
  /** By tool name; replaces what is known about a tool. `*` stands for tools that nobody knows. */
  readonly tools?: Readonly<Record<string, ToolReach>> | undefined;
}

export interface TaintFlags {
  readonly private: boolean;
  readonly untrusted: boolean;
}

/**
 * Watches each session for two things that are harmless one by one: it has seen private data, and it has seen text that others wrote. When both
 * are true, whatever can carry data out needs the operator's yes.
 */
export interface Taint {
  /** Answers like a trusted tool policy: a question to the operator, or nothing. */
  evaluate(event: { readonly toolName: string }, ctx: { readonly sessionKey?: string | undefined }): Promise<Wish | undefined>;
  /** A tool has answered in a session, with success or without. */
  observe(sessionKey: string, tool: string): void;
  /** Something else came in: a message of a stranger, a webhook, a memory. */
  mark(sessionKey: string, what: "private" | "untrusted"): void;
  flags(sessionKey: string): TaintFlags;
  /** The session is reset. */
  forget(sessionKey: string): void;
}

export interface TaintDeps {
  readonly settings: () => TaintSettings | undefined;
  /** Names of the tools whose results a session holds: asked once for a session that is not in memory, so that a restart forgets nothing. */
  readonly history?: (sessionKey: string) => Iterable<string> | Promise<Iterable<string>>;
}

/** What is taken for a tool of which nothing is known. */
const ANYTHING: ToolReach = { reads: "both", outbound: true };
const MAX_SESSIONS = 10_000;

interface Entry {
  private: boolean;
  untrusted: boolean;
  /** What the session held before is counted in. */
  complete: boolean;
}

function add(entry: Entry, { reads }: ToolReach): void {
  if (reads === "private" || reads === "both") entry.private = true;
  if (reads === "untrusted" || reads === "both") entry.untrusted = true;
}

export function createTaint({ settings, history }: TaintDeps): Taint {
  const sessions = new Map<string, Entry>();

  function entryOf(sessionKey: string): Entry {
    const found = sessions.get(sessionKey) ?? { private: false, untrusted: false, complete: history === undefined };
    sessions.delete(sessionKey);
    sessions.set(sessionKey, found);
    const [oldest] = sessions.keys();
    if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    return found;
  }

  function reachOf(tool: string): ToolReach {
    const name = toolName(tool);
    const own = settings()?.tools;
    const configured = own && Object.hasOwn(own, name) ? own[name] : undefined;
    return configured ?? toolFacts(name)?.reach ?? own?.["*"] ?? ANYTHING;
  }

  /** What cannot be read counts as the worst. */
  async function complete(entry: Entry, sessionKey: string): Promise<void> {
    try {
      for (const past of (await history?.(sessionKey)) ?? []) add(entry, reachOf(past));
      entry.complete = true;
    } catch {
      add(entry, ANYTHING);
    }
  }

  return {
    async evaluate({ toolName: tool }, { sessionKey }) {
      if (settings()?.enabled !== true || sessionKey === undefined || reachOf(tool).outbound !== true) return undefined;
      const entry = entryOf(sessionKey);
      if (!entry.complete) await complete(entry, sessionKey);
      return entry.private && entry.untrusted ? question(tool) : undefined;
    },
    observe(sessionKey, tool) {
      add(entryOf(sessionKey), reachOf(tool));
    },
    mark(sessionKey, what) {
      entryOf(sessionKey)[what] = true;
    },
    flags(sessionKey) {
      const found = sessions.get(sessionKey);
      return { private: found?.private ?? false, untrusted: found?.untrusted ?? false };
    },
    forget(sessionKey) {
      sessions.delete(sessionKey);
    },
  };
}

function question(tool: string): Wish {
  return {
    requireApproval: {
      title: `${tool} after private data and outside text`,
      description: `This session has read private data and text that others wrote. ${tool} could carry the one out because the other says so.`,
      severity: "warning",
      timeoutBehavior: "deny",
      allowedDecisions: ["allow-once", "deny"],
    },
  };
}

const MOST_ENTRIES = 500;

/** Names of the tools whose results a session holds. */
export async function toolsUsed(store: Pick<Store, "read">, sessionKey: string): Promise<ReadonlySet<string>> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return new Set();
  const { agentId, entry } = session;
  const files = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const file = files.find(({ archivedAt }) => archivedAt === null)?.file;
  const rows = file === undefined ? [] : await store.read("transcripts.tail", { file, limit: MOST_ENTRIES });
  return new Set(rows.flatMap(({ line }) => /"toolName":"([^"]+)"/.exec(line)?.[1] ?? []));
}
