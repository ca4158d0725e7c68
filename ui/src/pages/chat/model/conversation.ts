import type { EventPayload } from "openclaw/client";
import { createSignal, type Signal, type WritableSignal } from "../../../base/signal.ts";
import { failureText } from "../../../link/failure.ts";
import type { Link } from "../../../link/link.ts";
import { unsettled, withReported, type AskedCommands } from "./commands.ts";
import type { PageAnswer, Stretch } from "./entries.ts";
import { createOutbox, type Outbox, type Unsent } from "./outbox.ts";
import { browserPlatform, type Platform } from "./platform.ts";
import { createQueue } from "./queue.ts";
import { createReading } from "./reading.ts";
import { afterAgent, afterChat, afterPage, type LiveRun } from "./runs.ts";
import { createSending, type Sending } from "./sending.ts";
import type { Aside, ConversationState, Draft, PendingMessage } from "./state.ts";
import { t } from "../../../words/words.ts";

export type { Attachment, ConversationState, Draft, PendingMessage, ToolView } from "./state.ts";

/** One session, kept in step with the gateway. */
export interface Conversation {
  readonly state: Signal<ConversationState>;
  /** Begins to load and to listen. */
  open(): void;
  /** Loads what is before the oldest entry. */
  older(): Promise<void>;
  /** Loads what is after the newest entry that is held, when newer ones were dropped. */
  newer(): Promise<void>;
  /** Goes back to the newest entries. */
  newest(): Promise<void>;
  /** Goes to the entry at a position, however far back. */
  from(seq: number): Promise<void>;
  /** Asks for what is new. */
  refresh(): Promise<void>;
  /** The same, and gives what is known then, also when the conversation was closed meanwhile. */
  look(): Promise<ConversationState>;
  /** Keeps the message in this browser and sends it; gives its run's id. It is shown as pending from now on. */
  send(draft: Draft): string;
  /** The same, but not before this browser keeps the message. False when it cannot: nothing was sent. */
  offer(draft: Draft): Promise<boolean>;
  /** Tries a refused message again. */
  resend(runId: string): void;
  /** Forgets a message that was not accepted. */
  discard(runId: string): void;
  /** Takes back a message that waits. */
  withdraw(runId: string): Promise<void>;
  /** Shows a message that waits to the run that goes on. */
  steer(runId: string): Promise<void>;
  /** Ends the session's runs. */
  stop(): Promise<void>;
  close(): void;
}

export interface ConversationOptions {
  readonly link: Pick<Link, "state" | "hello" | "has" | "request" | "on" | "onFresh">;
  readonly sessionKey: string;
  readonly outbox?: Outbox;
  readonly platform?: Platform;
}

type Port = ConversationOptions["link"];

/** What is known, as it is shown. Streams are shown once in a frame. */
interface Board {
  readonly state: WritableSignal<ConversationState>;
  show(): void;
  showSoon(): void;
  close(): void;
}

function createBoard(view: () => ConversationState, { nextFrame }: Platform): Board {
  const state = createSignal(view());
  let closed = false;
  let scheduled = false;
  function show(): void {
    if (!closed) state.set(view());
  }
  return {
    state,
    show,
    showSoon() {
      if (scheduled || closed) return;
      scheduled = true;
      nextFrame(() => {
        scheduled = false;
        show();
      });
    },
    close: () => void (closed = true),
  };
}

/** What runs say, and what waits for them. */
interface Talk {
  canonical: string;
  waiting: readonly PendingMessage[];
  runs: readonly LiveRun[];
  asides: readonly Aside[];
  commands: AskedCommands;
  others: readonly string[] | undefined;
  /** Counts what comes over the wire, so that an answer can be set against what was heard since it was asked for. */
  heard: number;
}

/** Listens to the session's events. Whatever ends or begins is read again. */
function listen(
  link: Port,
  sessionKey: string,
  talk: Talk,
  now: () => number,
  { refresh, showSoon }: { refresh(): void; showSoon(): void },
): readonly Disposable[] {
  const isOurs = (key: string | undefined): boolean => key === talk.canonical || key === sessionKey;
  function onAgent(event: EventPayload<"agent">): void {
    if (!isOurs(event.sessionKey)) return;
    talk.heard += 1;
    talk.runs = afterAgent(talk.runs, event, talk.heard);
    if (event.stream === "lifecycle") refresh();
    showSoon();
  }
  function onChat(event: EventPayload<"chat">): void {
    if (!isOurs(event.sessionKey)) return;
    talk.heard += 1;
    talk.runs = afterChat(talk.runs, event, talk.heard, now());
    if (event.state !== "delta") refresh();
    showSoon();
  }
  return [link.on("agent", onAgent), link.on("chat", onChat), link.on("chat.changed", ({ sessionKey: key }) => void (isOurs(key) && refresh()))];
}

/** Messages that the gateway lists, and those of this browser that it does not list yet. */
function pendingOf(waiting: readonly PendingMessage[], sending: Sending, entries: ConversationState["entries"]): readonly PendingMessage[] {
  const own = sending.shown();
  if (own.length === 0) return waiting;
  const known = new Set(waiting.map(({ runId }) => runId));
  for (const { kind, runId } of entries) if (kind === "user" && runId !== undefined) known.add(runId);
  return [...waiting, ...own.filter(({ runId }) => !known.has(runId))];
}

const MOST_ASIDES = 20;

/** Of commands that the gateway has taken: those that it has answered, and of which the transcript says nothing. */
function asidesOf({ asides, waiting }: Talk, entries: ConversationState["entries"]): readonly Aside[] {
  if (asides.length === 0) return asides;
  const isListed = (id: string): boolean => waiting.some(({ runId }) => runId === id) || entries.some(({ kind, runId }) => kind === "user" && runId === id);
  return asides.filter(({ runId }) => !isListed(runId));
}

function viewOf(talk: Talk, stretch: Stretch, sending: Sending, rest: Pick<ConversationState, "loadingOlder" | "error">): ConversationState {
  const { entries, moreBefore, moreAfter, sessionId, known } = stretch;
  return {
    ...rest,
    sessionKey: talk.canonical,
    sessionId,
    entries,
    pending: pendingOf(talk.waiting, sending, entries),
    runs: talk.runs,
    asides: asidesOf(talk, entries),
    commands: talk.commands,
    others: talk.others,
    moreBefore,
    moreAfter,
    loading: known === undefined && rest.error === undefined,
  };
}

/** A page that was asked for at `asked` came: what it tells takes the place of what was known. `sent` is what the gateway had accepted by then. */
function takePage(
  talk: Talk,
  page: PageAnswer,
  { stretch, sent, asked, replaced }: { readonly stretch: Stretch; readonly sent: readonly Aside[]; readonly asked: number; readonly replaced: boolean },
): void {
  const { entries, known = 0 } = stretch;
  talk.canonical = page.sessionKey;
  talk.others = page.others;
  talk.waiting = page.pending.map((message) => ({ ...message, state: "accepted" as const }));
  const runs = replaced ? talk.runs.filter(({ after }) => after === undefined) : talk.runs;
  talk.runs = afterPage(runs, page, { entries, asked, last: known });
  talk.asides = [...(replaced ? [] : talk.asides), ...sent.filter(({ text }) => text.startsWith("/"))].slice(-MOST_ASIDES);
}

/** Subscribes to changes, or unsubscribes. A gateway without that is asked when a run begins or ends. */
async function watch(link: Port, sessionKey: string, on: boolean): Promise<void> {
  if (link.has("chat.watch")) await link.request("chat.watch", { sessionKey, on }).catch(() => undefined);
}

async function steer(link: Port, message: { readonly sessionKey: string; readonly runId: string }, refresh: () => Promise<void>): Promise<void> {
  const { steered } = await link.request("chat.steer", message);
  await refresh();
  if (!steered) throw new Error(t("The current answer cannot include this message. It stays in the queue."));
}

/** A conversation. Nothing is asked before `open`. */
export function createConversation({ link, sessionKey, outbox = createOutbox(), platform = browserPlatform }: ConversationOptions): Conversation {
  const talk: Talk = { canonical: sessionKey, waiting: [], runs: [], asides: [], commands: new Map(), others: undefined, heard: 0 };
  let loadingOlder = false;
  let error: string | undefined;
  let connections = 0;
  const held: Disposable[] = [];

  const written = (draft: Draft): Unsent => ({ ...draft, runId: platform.id(), sessionKey, ts: platform.now() });
  const reading = createReading({
    link,
    sessionKey,
    heard: () => talk.heard,
    onPage: (page, asked, replaced) => takePage(talk, page, { stretch: reading.stretch, sent: sending.takeListed(asked), asked, replaced }),
    unsettled: (entries) => unsettled(entries, talk.commands),
    commands: (news) => void (talk.commands = withReported(talk.commands, news)),
  });
  const sending = createSending({
    link,
    outbox,
    sessionKey,
    now: platform.now,
    wait: platform.wait,
    count: () => (talk.heard += 1),
    place: () => reading.stretch.known ?? 0,
    changed: () => board.show(),
    accepted: () => void refresh(),
  });
  const view = (): ConversationState => viewOf(talk, reading.stretch, sending, { loadingOlder, error });
  const board = createBoard(view, platform);

  const queue = createQueue(async (work) => {
    const before = connections;
    // A lost connection says so itself; the next one loads again.
    error = await work().then(
      () => undefined,
      (failure: unknown) => (link.state.value.kind === "open" && connections === before ? failureText(failure) : undefined),
    );
    loadingOlder = false;
    board.show();
  });
  const refresh = (): Promise<void> => queue.coalesced("load", reading.load);

  function fresh(): void {
    connections += 1;
    sending.resume();
    void refresh();
    // What happened before the gateway watches for us is read after it does.
    void watch(link, sessionKey, true).then(refresh);
  }

  return {
    state: board.state,
    open() {
      held.push(...listen(link, sessionKey, talk, platform.now, { refresh: () => void refresh(), showSoon: board.showSoon }));
      held.push(link.onFresh(fresh), link.state.subscribe(board.show), outbox.onForeign(sending.reread));
      sending.reread();
      if (link.state.value.kind === "open") fresh();
    },
    async older() {
      if (!reading.stretch.moreBefore || loadingOlder) return;
      loadingOlder = true;
      board.show();
      await queue.coalesced("older", reading.older);
    },
    newer: () => queue.coalesced("newer", reading.newer),
    newest: () => queue.coalesced("newest", reading.newest),
    from: (seq) => queue.coalesced(`from:${seq}`, () => reading.from(seq)),
    refresh,
    look: () => refresh().then(view),
    send: (draft) => sending.add(written(draft)),
    offer: (draft) => sending.offer(written(draft)),
    resend: sending.retry,
    discard: sending.discard,
    withdraw: (runId) => link.request("chat.abort", { sessionKey, runId }).then(refresh),
    steer: (runId) => steer(link, { sessionKey, runId }, refresh),
    stop: async () => void (await link.request("chat.abort", { sessionKey })),
    close() {
      board.close();
      for (const each of held.splice(0)) each[Symbol.dispose]();
      if (link.state.value.kind === "open") void watch(link, sessionKey, false);
    },
  };
}
