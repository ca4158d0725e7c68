/** What Signal and one device of it hold: people, groups, files, and what the bot sent. */
import { randomBytes, randomUUID } from "node:crypto";

export interface Person {
  readonly uuid: string;
  /** Hidden from whom they did not give it to. */
  readonly number: string | null;
  readonly name: string;
}

export interface Group {
  /** As signal-cli writes it: base64. */
  readonly id: string;
  readonly name: string;
  readonly members: Set<string>;
}

export interface SignalFile {
  readonly name: string;
  readonly mime: string;
  readonly data: Buffer;
}

export interface Quote {
  readonly timestamp: number;
  readonly author: string;
  readonly message: string;
}

export interface Draft {
  readonly text: string;
  readonly styles: readonly string[];
  readonly mentions: readonly string[];
  readonly files: readonly SignalFile[];
  readonly quote?: Quote | undefined;
}

/** A message of the bot, as it is seen now. */
export interface Sent extends Draft {
  readonly timestamp: number;
  /** The uuid of a person, or the id of a group. */
  readonly chat: string;
  readonly edits: number;
}

export interface Reaction {
  readonly chat: string;
  readonly emoji: string;
  readonly author: string;
  readonly timestamp: number;
}

export interface SayMore {
  readonly group?: Group;
  readonly files?: readonly SignalFile[];
  readonly quote?: Quote;
  readonly mentions?: readonly { readonly start: number; readonly length: number; readonly who: Person }[];
  /** More fields of the data message. */
  readonly data?: Readonly<Record<string, unknown>>;
}

export type Envelope = Readonly<Record<string, unknown>>;

export interface Written {
  readonly timestamp: number;
  readonly envelope: Envelope;
}

/** How a message to a person ends. */
export interface SendResult {
  readonly type: string;
  readonly retryAfterSeconds?: number;
  readonly token?: string;
}

export type World = ReturnType<typeof createWorld>;

export const newGroupId = (): string => randomBytes(32).toString("base64");

function createPeople() {
  const people: Person[] = [];
  return {
    add({ number, name }: { readonly number: string | null; readonly name: string }): Person {
      const person = { uuid: randomUUID(), number, name };
      people.push(person);
      return person;
    },
    /** By number or uuid. */
    find: (id: string): Person | undefined => people.find(({ uuid, number }) => number === id || uuid === id.toLowerCase()),
  };
}

export function createWorld(emit: (envelope: Envelope) => void) {
  const people = createPeople();
  const me = people.add({ number: "+15550001111", name: "Claw" });
  const groups: Group[] = [];
  const files = new Map<string, SignalFile>();
  let sent: Sent[] = [];
  let reactions: Reaction[] = [];
  let last = 0;
  /** Times are ids: no two are alike. */
  const now = (): number => (last = Math.max(Date.now(), last + 1));

  const envelope = (from: Person, timestamp: number, content: Readonly<Record<string, unknown>>): Envelope => ({
    source: from.number ?? from.uuid,
    sourceNumber: from.number,
    sourceUuid: from.uuid,
    sourceName: from.name,
    sourceDevice: 1,
    timestamp,
    serverReceivedTimestamp: timestamp,
    serverDeliveredTimestamp: timestamp + 1,
    ...content,
  });
  const groupInfo = (group: Group | undefined, type = "DELIVER") =>
    group === undefined ? {} : { groupInfo: { groupId: group.id, groupName: group.name, revision: 1, type } };

  function addFile(file: SignalFile): string {
    const id = `${randomBytes(10).toString("hex")}${/\.\w+$/.exec(file.name)?.[0] ?? ""}`;
    files.set(id, file);
    return id;
  }

  function dataMessage(timestamp: number, text: string, { group, files: attached = [], quote, mentions = [], data = {} }: SayMore) {
    const attachments = attached.map((file) => ({ contentType: file.mime, filename: file.name, id: addFile(file), size: file.data.length }));
    return {
      timestamp,
      message: text,
      expiresInSeconds: 0,
      viewOnce: false,
      ...(quote ? { quote: { id: quote.timestamp, author: quote.author, authorNumber: quote.author, text: quote.message, attachments: [] } } : {}),
      ...(mentions.length > 0
        ? { mentions: mentions.map(({ start, length, who }) => ({ name: who.number ?? who.uuid, number: who.number, uuid: who.uuid, start, length })) }
        : {}),
      ...(attachments.length > 0 ? { attachments } : {}),
      ...groupInfo(group),
      ...data,
    };
  }

  /** A message that did not arrive yet. */
  function compose(from: Person, text: string, more: SayMore = {}): Written {
    const timestamp = now();
    return { timestamp, envelope: envelope(from, timestamp, { dataMessage: dataMessage(timestamp, text, more) }) };
  }

  return {
    me,
    now,
    emit,
    people,
    envelope,
    person: people.add,
    files,
    group(name: string, members: readonly Person[]): Group {
      const group = { id: newGroupId(), name, members: new Set([me, ...members].map(({ uuid }) => uuid)) };
      groups.push(group);
      return group;
    },
    groups: (): readonly Group[] => groups.filter(({ members }) => members.has(me.uuid)),
    compose,
    say(from: Person, text: string, more: SayMore = {}): Written {
      const written = compose(from, text, more);
      emit(written.envelope);
      return written;
    },
    edit(from: Person, target: number, text: string, more: SayMore = {}): void {
      const timestamp = now();
      emit(envelope(from, timestamp, { editMessage: { targetSentTimestamp: target, dataMessage: dataMessage(timestamp, text, more) } }));
    },
    react(from: Person, emoji: string, target: { readonly author: Person; readonly timestamp: number }, group?: Group, isRemove = false): void {
      const timestamp = now();
      const author = target.author.number ?? target.author.uuid;
      const reaction = {
        emoji,
        targetAuthor: author,
        targetAuthorNumber: target.author.number,
        targetAuthorUuid: target.author.uuid,
        targetSentTimestamp: target.timestamp,
        isRemove,
      };
      emit(envelope(from, timestamp, { dataMessage: { timestamp, message: null, expiresInSeconds: 0, viewOnce: false, reaction, ...groupInfo(group) } }));
    },
    unsend(from: Person, target: number, group?: Group): void {
      const timestamp = now();
      const remoteDelete = { timestamp: target };
      emit(envelope(from, timestamp, { dataMessage: { timestamp, message: null, expiresInSeconds: 0, viewOnce: false, remoteDelete, ...groupInfo(group) } }));
    },
    groupChanged(from: Person, group: Group): void {
      const timestamp = now();
      emit(envelope(from, timestamp, { dataMessage: { timestamp, message: null, expiresInSeconds: 0, viewOnce: false, ...groupInfo(group, "UPDATE") } }));
    },
    /** The bot writes. */
    send(chat: string, draft: Draft): number {
      const timestamp = now();
      sent.push({ ...draft, timestamp, chat, edits: 0 });
      return timestamp;
    },
    rewrite(chat: string, target: number, draft: Draft): boolean {
      const found = sent.find((message) => message.chat === chat && message.timestamp === target);
      sent = sent.map((message) => (message === found ? { ...message, ...draft, edits: message.edits + 1 } : message));
      return found !== undefined;
    },
    remove(chat: string, target: number): boolean {
      const before = sent.length;
      sent = sent.filter((message) => message.chat !== chat || message.timestamp !== target);
      return sent.length < before;
    },
    setReaction(reaction: Reaction, isOn: boolean): void {
      reactions = reactions.filter(({ chat, timestamp, author }) => chat !== reaction.chat || timestamp !== reaction.timestamp || author !== reaction.author);
      if (isOn) reactions.push(reaction);
    },
    sent: (chat: string): readonly Sent[] => sent.filter((message) => message.chat === chat),
    reactions: (): readonly Reaction[] => reactions,
  };
}
