/** What an agent has to know about a thread that it is spoken to in. */
import { defined, type Fields, fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Workspace } from "../workspace.ts";
import { type ChatRef, isOurs, type ReadingFacts, timeOf } from "./chat.ts";
import { readText } from "./text.ts";

/** An event has to be acknowledged within three seconds. */
const QUICK_MS = 1500;
const MAX_LABEL = 60;

interface Line {
  readonly sender: string;
  readonly body: string;
  readonly timestamp?: number;
}

export interface ThreadContext {
  readonly ThreadStarterBody?: string;
  readonly ThreadLabel?: string;
  readonly IsFirstThreadTurn?: boolean;
  readonly InheritsParentSession?: boolean;
  readonly InboundHistory?: Line[];
}

async function read({ api }: Workspace, method: string, params: Readonly<Record<string, string | number | undefined>>): Promise<readonly Fields[]> {
  try {
    const { messages } = await api.call(method, params, { timeoutMs: QUICK_MS });
    return listOf(messages).map((message) => fieldsOf(message) ?? {});
  } catch {
    // A thread without its history is still answered.
    return [];
  }
}

async function linesOf(messages: readonly Fields[], ref: ChatRef, { workspace, self }: ReadingFacts): Promise<Line[]> {
  const shown = messages.filter((message) => isOurs(self, message) || ref.mayRead(textOf(message["user"]), message["bot_id"] !== undefined));
  return Promise.all(
    shown.map(async (message): Promise<Line> => {
      const user = textOf(message["user"]) ?? "";
      const at = timeOf(textOf(message["ts"]) ?? "");
      const sender = isOurs(self, message) ? "you" : ((await workspace.userName(user)) ?? user);
      return { sender, body: readText(textOf(message["text"]) ?? "", self.userId).text, ...(at === undefined ? {} : { timestamp: at }) };
    }),
  );
}

/** The conversation around the thread, up to this message, oldest first. */
async function around(facts: ReadingFacts, ref: ChatRef, ts: string, limit: number, since?: string): Promise<Line[]> {
  const found =
    limit <= 0 ? [] : await read(facts.workspace, "conversations.history", { channel: ref.chat.id, latest: ts, oldest: since, limit: Math.min(limit, 200) });
  return linesOf(found.toReversed(), ref, facts);
}

/**
 * The first message, and what was said before we were spoken to. A thread in which we have answered has a session that knows it. Only what people
 * wrote who may write here is shown.
 */
export async function threadContext(facts: ReadingFacts, ref: ChatRef, thread: string, ts: string): Promise<ThreadContext> {
  const { workspace, self } = facts;
  const { threads, historyLimit, config } = workspace.account;
  const key = `${ref.chat.id}/${thread}`;
  const shownUntil = workspace.shownThreads.get(key);
  workspace.shownThreads.set(key, ts);
  const channelHistory = threads.history === "channel" ? await around(facts, ref, ts, historyLimit, shownUntil) : [];
  const withChannel = (context: ThreadContext): ThreadContext =>
    channelHistory.length === 0 ? context : { ...context, InboundHistory: [...channelHistory, ...(context.InboundHistory ?? [])] };
  if (shownUntil !== undefined) return withChannel({});
  const [root, ...replies] = await read(workspace, "conversations.replies", { channel: ref.chat.id, ts: thread, limit: 200 });
  if (!root) return withChannel({});
  const before = replies.filter((message) => (textOf(message["ts"]) ?? "") < ts);
  const [starter] = await linesOf([root], ref, facts);
  const label = starter && `Slack thread: ${starter.body.replaceAll(/\s+/g, " ").slice(0, MAX_LABEL).toWellFormed()}`;
  const known = defined({ ThreadStarterBody: starter?.body, ThreadLabel: label });
  if (before.some((message) => isOurs(self, message))) return withChannel(known);
  const isInherited = fieldsOf(config["thread"])?.["inheritParent"] === true && threads.history === "thread";
  const history = await linesOf(threads.initialLimit <= 0 ? [] : before.slice(-threads.initialLimit), ref, facts);
  return withChannel({
    ...known,
    IsFirstThreadTurn: true,
    ...(isInherited ? { InheritsParentSession: true } : {}),
    ...(history.length === 0 ? {} : { InboundHistory: history }),
  });
}
