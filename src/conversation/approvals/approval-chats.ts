import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Config } from "../../config/index.ts";
import { createButtonSeal } from "../button-seal.ts";
import { buttonsFor } from "../buttons.ts";
import { type Messages } from "../delivery/messages.ts";
import { type ReplyAddress } from "../address.ts";
import { agentOfKey } from "../../protocol/index.ts";
import { deliveryOf, sendPolicy } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";
import { approvalSlug, shownRequest, type ApprovalNotice } from "../../tools/index.ts";
import { approverChats, type Chat } from "./channel-approvers.ts";

export interface ApprovalChatsDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "write">;
  readonly random: Pick<Random, "bytes">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Logger;
  readonly messages: () => Promise<Pick<Messages, "send"> & Partial<Pick<Messages, "action">>>;
  readonly defaultAgentId: () => string;
}

/** Sends questions for approval to chats, as `approvals.exec` and the channels' `execApprovals` configure it, and how they were decided. */
export interface ApprovalChats {
  notify(notice: ApprovalNotice): Promise<void>;
}

type Requested = Extract<ApprovalNotice, { readonly type: "requested" }>;
type Resolved = Extract<ApprovalNotice, { readonly type: "resolved" }>;

/** Where a question comes from. */
interface Question {
  readonly cwd?: string;
  readonly environment?: string | null;
  readonly host?: string;
  readonly nodeId?: string | null;
  readonly nodeName?: string;
  readonly security?: string;
  readonly ask?: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly origin?: { readonly reply?: ReplyAddress };
}

/** A message, with buttons where the platform has some. */
interface Shown {
  readonly text: string;
  readonly channelData?: Record<string, unknown>;
}

interface AskedChat extends Chat {
  /** The messages that asked. */
  readonly messageIds?: readonly string[];
}

/** A longer command is not shown in a chat: people would approve what they have not read. */
const MOST_CHARS = 8000;
const ENDS = { "allow-once": "allowed once", "allow-always": "always allowed", deny: "denied", cancelled: "cancelled" } as const;

/** A run of backticks longer than any in the text. */
const marks = (text: string, least: number): string => "`".repeat(Math.max(least, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));

function fenced(text: string): string {
  const fence = marks(text, 3);
  return `${fence}\n${text}\n${fence}`;
}

/** Foreign text as one line of code: nothing in it becomes a link or looks like a line of this message. */
function inline(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const mark = marks(line, 1);
  const blank = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${mark}${blank}${line}${blank}${mark}`;
}

function matches(filter: string, key: string): boolean {
  if (key.includes(filter)) return true;
  try {
    return new RegExp(filter).test(key);
  } catch {
    return false; // Not a pattern, and not a part of this key.
  }
}

const questionOf = (request: unknown): Question => (typeof request === "object" && request !== null ? request : {});
const chatKey = ({ channel, accountId = "", to, threadId = "" }: Chat): string => JSON.stringify([channel, accountId, to, threadId]);

/** A chat that names no account is the same as one that does. */
function isSameChat(one: Chat, other: Chat): boolean {
  if (one.accountId !== undefined && other.accountId !== undefined && one.accountId !== other.accountId) return false;
  return chatKey({ ...one, accountId: "" }) === chatKey({ ...other, accountId: "" });
}

function eachOnce(chats: readonly Chat[]): readonly Chat[] {
  const found: Chat[] = [];
  for (const chat of chats) {
    const at = found.findIndex((other) => isSameChat(chat, other));
    if (at < 0) found.push(chat);
    else found[at] = { ...chat, ...found[at]! };
  }
  return found;
}

function askedText({ id, request, expiresAt, allowed }: Requested, now: number): Shown {
  const question = questionOf(request);
  const { cwd, environment, host, nodeId, nodeName, agentId, security, ask } = question;
  const { command: subject, always } = shownRequest(request);
  const slug = approvalSlug(id);
  const head = `Approval needed (id ${slug})`;
  if (subject.length > MOST_CHARS) {
    return {
      text: `${head}: the command has ${subject.length} characters, too many for a chat. Review it in the Control UI: openclaw dashboard`,
    };
  }
  const id12 = typeof nodeId === "string" ? nodeId.slice(0, 12) : undefined;
  const node = id12 === undefined || nodeName === undefined || nodeName === id12 ? id12 : `${nodeName} (${id12})`;
  const facts = {
    Folder: cwd,
    Environment: environment ?? undefined,
    Host: host,
    Node: node,
    Agent: agentId,
    Security: security,
    Ask: ask,
    "allow-always": always,
  };
  const lines = Object.entries(facts).flatMap(([name, value]) => (typeof value === "string" && value !== "" ? [`${name}: ${inline(value)}`] : []));
  const seconds = Math.max(0, Math.round((expiresAt - now) / 1000));
  const text = [`${head}:`, fenced(subject), ...lines, `Expires in ${seconds} s.`, `Reply with: /approve ${slug} ${allowed.join("|")}`].join("\n");
  return buttonsFor(text, [allowed.map((decision) => ({ text: decision, command: `/approve ${slug} ${decision}` }))]);
}

function endedText({ id, request, decision, by }: Resolved): string {
  const { command: subject } = shownRequest(request);
  const shown = inline(subject.length > 120 ? `${subject.slice(0, 119).toWellFormed()}…` : subject);
  const what = decision === "timeout" ? "expired without a decision" : (ENDS[decision] ?? decision);
  const why = by === "restart" ? "the gateway was restarted" : by === null ? undefined : `by ${by}`;
  return `Approval ${approvalSlug(id)} ${what}${why === undefined ? "" : ` (${why})`}: ${shown}`;
}

/** The person who decided in this chat sees the outcome there as the answer to the command. */
const decidedThere = ({ channel, to }: Chat, by: string | null): boolean =>
  by !== null && by.startsWith(`${channel}:`) && (by === `${channel}:${to}` || to.endsWith(`:${by.slice(channel.length + 1)}`));

export function createApprovalChats(deps: ApprovalChatsDeps): ApprovalChats {
  /** The chats that each question was sent to, by its id. */
  const asked = new Map<string, Promise<readonly AskedChat[]>>();
  const { seal } = createButtonSeal(deps);

  async function chatOfSession({ sessionKey, origin }: Question): Promise<readonly Chat[]> {
    if (sessionKey === undefined) return [];
    const entry = (await deps.store.read("sessions.get", { key: sessionKey }))?.entry;
    const { channel, to, accountId, threadId } = origin?.reply ?? deliveryOf(entry) ?? {};
    if (channel === undefined || to === undefined || channel === "webchat") return [];
    if (entry && !sendPolicy(deps.config.current, sessionKey, entry, channel).allowed) return [];
    return [{ channel, to, ...(accountId === undefined ? {} : { accountId }), ...(threadId === undefined ? {} : { threadId }) }];
  }

  /** Those of `approvals.exec`. */
  function generalChats(agentId: string, sessionKey: string, own: readonly Chat[]): readonly Chat[] {
    const { enabled, mode = "session", agentFilter = [], sessionFilter = [], targets = [] } = deps.config.current.approvals?.exec ?? {};
    if (enabled !== true) return [];
    if (agentFilter.length > 0 && !agentFilter.includes(agentId)) return [];
    if (sessionFilter.length > 0 && !sessionFilter.some((filter) => matches(filter, sessionKey))) return [];
    return [...(mode === "targets" ? [] : own), ...(mode === "session" ? [] : targets)];
  }

  /** The chats to ask, each once. */
  async function chatsFor(request: unknown): Promise<readonly Chat[]> {
    const cfg = deps.config.current;
    const question = questionOf(request);
    const { sessionKey = "" } = question;
    const agentId = question.agentId ?? (sessionKey === "" ? deps.defaultAgentId() : agentOfKey(sessionKey, { defaultAgentId: deps.defaultAgentId() }));
    const own = await chatOfSession(question);
    const chats = [...generalChats(agentId, sessionKey, own), ...approverChats(cfg, { agentId, sessionKey, own, matches })];
    return eachOnce(chats);
  }

  /** Failures are logged: nothing waits for a chat. */
  async function send(chats: readonly Chat[], idempotencyKey: string, message: Shown): Promise<readonly AskedChat[]> {
    const messages = await deps.messages();
    return Promise.all(
      chats.map(async (chat) => {
        const { isCleanedUp: _, ...to } = chat;
        try {
          const { state, why, messageIds } = await messages.send({ ...to, ...message, idempotencyKey: `${idempotencyKey}:${chatKey(chat)}` });
          if (state === "failed") throw new Error(why ?? "it could not be sent");
          return { ...chat, messageIds };
        } catch (error) {
          deps.log.warn(`an approval request could not be sent to a chat: ${messageOf(error)}`, { ...to });
          return chat;
        }
      }),
    );
  }

  /** Deletes the question where its chat wants that. */
  async function cleanUp({ channel, accountId, to, messageIds = [] }: AskedChat): Promise<void> {
    const messages = await deps.messages();
    const account = accountId === undefined ? {} : { accountId };
    for (const messageId of messageIds) {
      await messages
        .action?.({ action: "delete", channel, ...account, params: { to, messageId } })
        .catch((error: unknown) => deps.log.warn(`an approval request could not be deleted: ${messageOf(error)}`, { channel, to }));
    }
  }

  async function askChats(notice: Requested): Promise<readonly AskedChat[]> {
    const chats = await chatsFor(notice.request);
    return chats.length > 0 ? send(chats, `approval:${notice.id}:asked`, await seal(askedText(notice, deps.clock.now()))) : [];
  }

  async function sendOutcome(notice: Resolved): Promise<void> {
    const chats = await (asked.get(notice.id) ?? chatsFor(notice.request));
    asked.delete(notice.id);
    const others = chats.filter((chat) => chat.isCleanedUp !== true && !decidedThere(chat, notice.by));
    await Promise.all(chats.filter((chat) => chat.isCleanedUp === true).map(cleanUp));
    if (others.length > 0) await send(others, `approval:${notice.id}:ended`, { text: endedText(notice) });
  }

  return {
    async notify(notice) {
      if (notice.type === "resolved") return sendOutcome(notice);
      const asking = askChats(notice);
      asked.set(
        notice.id,
        asking.catch(() => []),
      );
      await asking;
    },
  };
}
