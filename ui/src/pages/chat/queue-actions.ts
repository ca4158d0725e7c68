import { queuedOf, takenAway, untilNoneWaits, type QueuedMessage } from "./chat-view.ts";
import type { Link } from "../../link/link.ts";
import type { Attachment, Conversation, ConversationState } from "./model/conversation.ts";
import type { QueueWish } from "./queue.ts";
import { t } from "../../words/words.ts";

/** Does something and reports when it fails. */
type Attempt = (work: () => Promise<unknown>) => Promise<unknown>;

/** What waited behind a run that was stopped has ended after so many looks. */
const MOST_LOOKS = 30;
const LOOK_MS = 1000;

const isWaiting = (now: ConversationState, queued: readonly QueuedMessage[]): boolean =>
  queuedOf(now).some(({ runId }) => queued.some((one) => one.runId === runId));

/** Text and files of messages that were taken back, and what is said about it. */
export interface TakenBack {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly note?: string;
}

type Port = Pick<Link, "has" | "request">;

/** The files of messages that wait: the gateway has them as long as the messages wait. Undefined where they cannot be had. */
async function filesOf(link: Port, sessionKey: string, { runId, images }: QueuedMessage): Promise<readonly Attachment[] | undefined> {
  if (images === 0) return [];
  if (!link.has("chat.queued")) return undefined;
  return (await link.request("chat.queued", { sessionKey, runId })).attachments;
}

/** Ends the runs. The gateway takes away what waited behind them, too: gives back those messages. */
export async function stopRuns(conversation: Conversation, link: Port, attempt: Attempt): Promise<TakenBack | undefined> {
  const { sessionKey } = conversation.state.value;
  const queued = queuedOf(conversation.state.value);
  const files = new Map(await Promise.all(queued.map(async (one) => [one.runId, await filesOf(link, sessionKey, one).catch(() => undefined)] as const)));
  await attempt(() => conversation.stop());
  if (queued.length === 0) return undefined;
  let now = await conversation.look();
  // The page may have turned to another conversation by then: this one gets no more events, and asks.
  for (let looks = 0; looks < MOST_LOOKS && isWaiting(now, queued); looks += 1) {
    await untilNoneWaits(conversation.state, queued, LOOK_MS);
    now = await conversation.look();
  }
  const lost = takenAway(queued, now);
  return lost.length === 0 ? undefined : takenBack(lost, files);
}

function takenBack(lost: readonly QueuedMessage[], files: ReadonlyMap<string, readonly Attachment[] | undefined>): TakenBack {
  return {
    text: lost.flatMap(({ text }) => (text === "" ? [] : [text])).join("\n\n"),
    attachments: lost.flatMap(({ runId }) => files.get(runId) ?? []),
    note: lost.some(({ runId }) => files.get(runId) === undefined)
      ? t("Queued messages were stopped too. Their text is back in the box; attach their files again.")
      : t("Queued messages were stopped too. They are back in the box."),
  };
}

/** Sends a message that waits at once, or takes it away. Gives it when it is to be edited. */
export async function changeQueued(
  conversation: Conversation,
  link: Port,
  { wish, message }: { readonly wish: QueueWish; readonly message: QueuedMessage },
  attempt: Attempt,
): Promise<TakenBack | undefined> {
  let back: TakenBack | undefined;
  await attempt(async () => {
    if (wish === "steer") return conversation.steer(message.runId);
    const attachments = wish === "edit" ? await filesOf(link, conversation.state.value.sessionKey, message) : undefined;
    await conversation.withdraw(message.runId);
    if (wish === "edit") back = { text: message.text, attachments: attachments ?? [] };
  });
  return back;
}
