/** An account from its start to its end: the event socket, resumed where it broke, and what was missed where it cannot be. */
import type { ChannelGatewayContext } from "openclaw/plugin-sdk";
import {
  type AccountRun,
  type Cursor,
  type CursorStore,
  type Fields,
  fieldsOf,
  keepConnected,
  openCursor,
  openSocket,
  realWaiting,
  type Socket,
  textOf,
  unsure,
  type Waiting,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import type { MattermostAccount } from "./account.ts";
import type { MattermostApi, Person } from "./api.ts";
import { editEvent, eventOf, type Frame, type MappingDeps, messageEvent, READ } from "./inbound.ts";

/** Everything before it is stored. */
export interface Position {
  /** Empty: there is none to resume. */
  readonly connectionId: string;
  /** The next event of that connection. */
  readonly sequence: number;
  /** Of the newest post that is stored, by the server's clock. */
  readonly since: number;
}

export function readPosition(stored: unknown): Position | undefined {
  const fields = fieldsOf(stored) ?? {};
  const [sequence, since] = [wholeOf(fields["sequence"]), wholeOf(fields["since"])];
  return sequence === undefined || since === undefined ? undefined : { connectionId: textOf(fields["connectionId"]) ?? "", sequence, since };
}

/** Posts of different channels do not come in the order of their times: this much is read twice. */
const MARGIN_MS = 10_000;
const MISSED = 4001;
/** Events that wait while missed posts are fetched; reading pauses then. */
const MAX_HELD = 500;
const [CHALLENGE, PING] = [1, 2];

interface SessionDeps {
  readonly run: AccountRun;
  readonly api: MattermostApi;
  readonly account: MattermostAccount;
  readonly me: Person;
  readonly cursor: Cursor<Position>;
  socket(): Socket | undefined;
}

/** The position moves on when the event is stored. */
async function whenStored(stored: Promise<boolean>, done: () => void, failed: (error: Error) => void): Promise<void> {
  try {
    if (await stored) done();
  } catch (error) {
    failed(error as Error);
  }
}

/** What was written since then, or where to begin when there is no such time. Resolves when all of it is stored. */
async function fetchMissed({ intake, signal }: AccountRun, mapping: MappingDeps, since: number | undefined): Promise<number> {
  const { api } = mapping;
  const channels = await api.channels(signal);
  const newest = Math.max(since ?? 0, ...channels.map(({ lastPostAt }) => lastPostAt));
  if (since === undefined) return newest;
  const from = since - MARGIN_MS;
  for (const place of channels.filter(({ lastPostAt }) => lastPostAt > from)) {
    const posts = (await api.postsSince(place.id, from, signal)).filter((post) => !wholeOf(post["delete_at"]) && !textOf(post["original_id"]));
    const taken = posts.flatMap((post) => {
      const [createdAt, editedAt] = [wholeOf(post["create_at"]) ?? 0, wholeOf(post["edit_at"]) ?? 0];
      return [
        ...(createdAt > from ? [intake.addLater(place.id, () => messageEvent(post, place, mapping, { backlog: true }))] : []),
        // What came before as it was then; newer posts come as they are now.
        ...(createdAt <= since && editedAt > from ? [intake.addLater(place.id, () => editEvent(post, place, mapping))] : []),
      ];
    });
    if ((await Promise.all(taken)).includes(false)) throw unsure("receive", "the account stopped before missed messages were stored");
  }
  return newest;
}

/** One connection. Frames that come while missed posts are fetched wait behind them. */
function createSession({ run, api, account, me, cursor, socket }: SessionDeps) {
  const { intake, log } = run;
  const close = (why: Error): void => socket()?.close(MISSED, why);
  const mapping: MappingDeps = { api, account, me };
  let at: Position | undefined = cursor.position;
  let waiting: Fields[] | undefined;
  let isOver = false;

  function handle(frame: Fields): void {
    const { event, data } = frame;
    const read: Frame = { event: String(event), data: fieldsOf(data) ?? {}, channelId: textOf(fieldsOf(frame["broadcast"])?.["channel_id"]) };
    const sequence = (wholeOf(frame["seq"]) ?? 0) + 1;
    const post = /"create_at":(\d+)/.exec(textOf(read.data["post"]) ?? "");
    at = { connectionId: at?.connectionId ?? "", sequence, since: Math.max(at?.since ?? 0, Number(post?.[1] ?? 0)) };
    const done = cursor.began(at);
    if (!READ.has(read.event)) return done();
    const name = `${at.connectionId}:${sequence}`;
    void whenStored(
      intake.addLater(read.channelId ?? "", () => eventOf(read, mapping, name)),
      done,
      close,
    );
  }

  /** A new connection: what the one before it would have brought is fetched first. It stands when the position from which another could go on is stored. */
  async function begin(connectionId: string): Promise<void> {
    if (at) log.info("the connection could not be resumed; fetching missed messages");
    waiting = [];
    const since = await fetchMissed(run, mapping, at?.since);
    if (isOver) return;
    at = { connectionId, sequence: 1, since };
    cursor.reset(at);
    await cursor.flush();
    run.up({ mode: "websocket" });
    const held = waiting;
    waiting = undefined;
    for (const frame of held) handle(frame);
    if (held.length >= MAX_HELD) socket()?.flow(true);
  }

  let expected = at?.sequence ?? 0;
  /** Until a `hello` says otherwise. */
  let isResumed = Boolean(at?.connectionId);
  return {
    /** Where to go on. */
    query: !at?.connectionId ? "" : `?connection_id=${encodeURIComponent(at.connectionId)}&sequence_number=${at.sequence}`,
    message(raw: unknown): void {
      const frame = fieldsOf(raw) ?? {};
      if (frame["seq_reply"] === PING) {
        if (frame["status"] !== "OK") return close(unsure("receive", "Mattermost rejected the connection's token"));
        // Without a `hello` before it the connection was resumed.
        return waiting || at?.sequence !== expected ? undefined : run.up({ mode: "websocket" });
      }
      const sequence = wholeOf(frame["seq"]);
      if (sequence === undefined) return;
      if (frame["event"] === "hello") {
        isResumed = false;
        expected = sequence + 1;
        return void begin(textOf(fieldsOf(frame["data"])?.["connection_id"]) ?? "").catch(close);
      }
      if (sequence !== expected) {
        // A connection that was resumed and has a gap all the same would have it again: the next one is new, and what was missed is fetched.
        if (isResumed && cursor.position) cursor.reset({ ...cursor.position, connectionId: "" });
        return close(unsure("receive", `event ${expected} was missed: received ${sequence}`));
      }
      expected += 1;
      if (!waiting) return handle(frame);
      if (waiting.push(frame) === MAX_HELD) socket()?.flow(false);
    },
    end(): void {
      isOver = true;
    },
  };
}

export interface RunDeps {
  readonly api: MattermostApi;
  readonly store: CursorStore<Position>;
  readonly waiting?: Waiting | undefined;
  /** Who the bot is, once it is known. */
  known(me: Person): void;
}

/** Runs the account; settles when it has stopped completely. Rejects with `permanent` where a restart would not help. */
export async function runAccount(ctx: ChannelGatewayContext<MattermostAccount>, { api, store, waiting = realWaiting, known }: RunDeps): Promise<void> {
  const { account } = ctx;
  const cursor = await openCursor<Position>({
    store,
    now: waiting.now,
    failed: (error) => ctx.log?.warn(`the position could not be stored: ${String(error)}`),
  });
  let socket: Socket | undefined;

  async function connect(run: AccountRun): Promise<unknown> {
    const me = await api.login(run.signal);
    known(me);
    run.setStatus({ bot: { id: me.id, username: me.username }, baseUrl: account.baseUrl });
    // What was read and is not stored yet comes again.
    cursor.reset(cursor.position);
    const session = createSession({ run, api, account, me, cursor, socket: () => socket });
    const url = `${account.baseUrl.replace(/^http/i, "ws")}/api/v4/websocket${session.query}`;
    const headers = { authorization: `Bearer ${account.token}` };
    const opened = openSocket({ platform: "Mattermost", url, headers, onMessage: session.message, onAlive: run.alive, signal: run.signal });
    socket = opened;
    try {
      await opened.opened;
      // The header signs in already; a proxy may have dropped it.
      await opened.send({ seq: CHALLENGE, action: "authentication_challenge", data: { token: account.token } });
      await opened.send({ seq: PING, action: "ping" });
      const { code, reason, error } = await opened.ended;
      return error ?? unsure("receive", `Mattermost closed the connection: ${code} ${reason}`.trim());
    } finally {
      session.end();
    }
  }

  try {
    await keepConnected(ctx, { waiting, connect, flow: (isOpen) => socket?.flow(isOpen), status: { baseUrl: account.baseUrl } });
  } finally {
    await cursor.flush();
  }
}
