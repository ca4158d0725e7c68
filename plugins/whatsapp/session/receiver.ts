/** Turns what a connection brings into events, and hands them over. */
import type { WAMessage, WASocket } from "baileys";
import { type AccountRun, messageOf } from "openclaw/plugin-sdk/channel-kit";
import type { WhatsAppAccount } from "../account.ts";
import { numberOf } from "../address.ts";
import { type EventFacts, readMembers, readMessage, type ReadMessage, selfOf } from "../inbound/events.ts";
import type { Authors, GroupCache } from "../live.ts";
import type { SentMessages } from "../sent.ts";
import type { Library } from "./library.ts";

export interface ReceiverDeps {
  readonly run: AccountRun;
  readonly library: Library;
  readonly socket: WASocket;
  readonly groups: GroupCache;
  readonly authors: Authors;
  readonly sent: SentMessages;
  /** Ids of messages that the host turned away: they get no receipt, so that their sender learns nothing. */
  readonly refused: Set<string>;
  account(): WhatsAppAccount;
}

export interface Receiver {
  /** Resolves when the message is stored. */
  take(message: WAMessage, isBacklog: boolean): Promise<void>;
  /** Reported by the library after it was acknowledged: what did not pass `take`. */
  arrived(message: WAMessage, isBacklog: boolean): Promise<void>;
  readonly lastMessageAt: number;
  /** Nothing is taken from now on: WhatsApp brings it again. */
  close(): void;
}

/** Events that are known to be stored, so that they are not offered again when the library reports them. */
const MAX_STORED = 2000;

export function createReceiver({ run, library, socket, groups, authors, sent, refused, account }: ReceiverDeps): Receiver {
  const { log, waiting } = run;
  const stored = new Set<string>();
  let lastMessageAt = waiting.now();
  let isClosed = false;

  const facts = (): EventFacts => ({
    account: account(),
    library,
    self: selfOf(socket.authState.creds.me),
    numberFor: async (hidden) => numberOf(await socket.signalRepository.lidMapping.getPNForLID(hidden)),
    subjectOf: async (group) => (await groups.get(group))?.subject,
    membersOf: async (group) => (await groups.get(group))?.participants ?? [],
    sentMessage: (id) => sent.get(id),
  });

  function markRead({ key, isSelfChat }: ReadMessage): void {
    if (refused.delete(key.id!) || isSelfChat || !account().sendReadReceipts) return;
    socket.readMessages([key]).catch((error: unknown) => log.debug?.(`a read receipt was not sent: ${messageOf(error)}`));
  }

  async function offer(read: ReadMessage | undefined): Promise<void> {
    if (!read) return;
    const { event, key } = read;
    authors.note(event.chat.id, key.id!, key.participant, event.text);
    if (event.kind === "member") groups.forget(event.chat.id);
    if (!(await run.intake.add(event))) throw new Error("the account stopped before the message was stored");
    stored.add(`${event.chat.id} ${event.id}`);
    const [oldest] = stored;
    if (stored.size > MAX_STORED && oldest !== undefined) stored.delete(oldest);
    if (event.kind === "message") markRead(read);
  }

  return {
    get lastMessageAt() {
      return lastMessageAt;
    },
    async take(message, isBacklog) {
      lastMessageAt = waiting.now();
      if (isClosed) throw new Error("the connection is being closed");
      await offer(await readMessage(message, isBacklog, facts()));
    },
    async arrived(message, isBacklog) {
      const known = facts();
      const read = (await readMembers(message, known)) ?? (await readMessage(message, isBacklog, known));
      if (read && !stored.has(`${read.event.chat.id} ${read.event.id}`)) await offer(read);
    },
    close() {
      isClosed = true;
    },
  };
}
