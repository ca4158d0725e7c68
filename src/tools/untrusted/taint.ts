import type { HookOutcome } from "../../hooks/index.ts";
import type { Store } from "../../store/index.ts";
import { toolFacts, toolName } from "../catalog.ts";
import type { ToolReach } from "../declaration.ts";
import { UNTRUSTED_START } from "./mark.ts";

/** A question to the operator, in the shape of what a policy answers. */
type Wish = Pick<HookOutcome<"before_tool_call">, "requireApproval">;

export interface TaintSettings {
  /** Default false. */
  readonly enabled?: boolean | undefined;
  /** By tool name; replaces what is known about a tool. `*` stands for unknown tools. */
  readonly tools?: Readonly<Record<string, ToolReach>> | undefined;
}

/** What a session has seen so far, as its transcript has it. */
export interface SessionPast {
  /** Names of the tools whose results it holds. */
  readonly tools: Iterable<string>;
  /** It was sent text of others, such as by a webhook. */
  readonly hasOutsideText: boolean;
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
}

export interface TaintDeps {
  readonly settings: () => TaintSettings | undefined;
  /** Asked before each call that could carry something out: a restart forgets nothing, and what came in as a message counts. */
  readonly past?: (sessionKey: string) => Promise<SessionPast>;
}

/** What is taken for a tool of which nothing is known. */
const ANYTHING: ToolReach = { reads: "both", outbound: true };
const MAX_SESSIONS = 10_000;

interface Entry {
  private: boolean;
  untrusted: boolean;
}

function add(entry: Entry, { reads }: ToolReach): void {
  if (reads === "private" || reads === "both") entry.private = true;
  if (reads === "untrusted" || reads === "both") entry.untrusted = true;
}

export function createTaint({ settings, past }: TaintDeps): Taint {
  const sessions = new Map<string, Entry>();

  function entryOf(sessionKey: string): Entry {
    const found = sessions.get(sessionKey) ?? { private: false, untrusted: false };
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
  async function addPast(entry: Entry, sessionKey: string): Promise<void> {
    try {
      const { tools = [], hasOutsideText = false } = (await past?.(sessionKey)) ?? {};
      for (const tool of tools) add(entry, reachOf(tool));
      entry.untrusted ||= hasOutsideText;
    } catch {
      add(entry, ANYTHING);
    }
  }

  return {
    async evaluate({ toolName: tool }, { sessionKey }) {
      if (settings()?.enabled !== true || sessionKey === undefined || reachOf(tool).outbound !== true) return undefined;
      const entry = entryOf(sessionKey);
      if (!entry.private || !entry.untrusted) await addPast(entry, sessionKey);
      return entry.private && entry.untrusted ? question(tool) : undefined;
    },
    observe(sessionKey, tool) {
      add(entryOf(sessionKey), reachOf(tool));
    },
  };
}

function question(tool: string): Wish {
  return {
    requireApproval: {
      title: `${tool} after private data and outside text`,
      description: `This session has read private data and text written by others. That text could make ${tool} leak the data.`,
      severity: "warning",
      timeoutBehavior: "deny",
      allowedDecisions: ["allow-once", "deny"],
    },
  };
}

const MOST_ENTRIES = 500;

export async function sessionPast(store: Pick<Store, "read">, sessionKey: string): Promise<SessionPast> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return { tools: [], hasOutsideText: false };
  const { agentId, entry } = session;
  const files = await store.read("transcripts.ofSession", { agentId, sessionId: entry.sessionId });
  const file = files.find(({ archivedAt }) => archivedAt === null)?.file;
  const rows = file === undefined ? [] : await store.read("transcripts.tail", { file, limit: MOST_ENTRIES });
  return {
    tools: new Set(rows.flatMap(({ line }) => /"toolName":"([^"]+)"/.exec(line)?.[1] ?? [])),
    // Results of tools carry the marks as well: of those their tool says what they are.
    hasOutsideText: rows.some(({ line }) => line.includes(UNTRUSTED_START) && !line.includes('"toolName"')),
  };
}
