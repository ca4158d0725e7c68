/** One connection to Discord's gateway: hello, identify or resume, heartbeats, and what its end means. */
import { type Fields, fieldsOf, hopeless, numberOf, openSocket, textOf, unsure, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { Presence } from "../account.ts";

/** Where events go on. */
export interface Session {
  readonly id: string;
  readonly url: string;
  /** Of the last event that was read. */
  seq: number;
}

export interface LineOptions {
  readonly url: string;
  readonly token: string;
  readonly intents: number;
  readonly presence: Presence | undefined;
  readonly proxy: string | undefined;
  /** Events go on here; without it a session begins. */
  readonly session: Session | undefined;
  readonly signal: AbortSignal;
  readonly waiting: Waiting;
  onEvent(type: string, data: Fields, seq: number): void;
  onAlive(): void;
  onGarbage(what: string): void;
}

export type LineEnd =
  /** The session is good: it goes on in a new connection. */
  | { readonly next: "resume"; readonly error?: Error | undefined }
  /** Discord forgot the session. */
  | { readonly next: "identify"; readonly waitMs: number; readonly error?: Error | undefined }
  /** Useless until the configuration changes. */
  | { readonly next: "none"; readonly error: Error };

export interface Line {
  readonly ended: Promise<LineEnd>;
  setPresence(presence: Presence): Promise<void>;
  /** Stops and resumes reading. */
  flow(isOpen: boolean): void;
}

const OP = { dispatch: 0, heartbeat: 1, identify: 2, presence: 3, resume: 6, reconnect: 7, invalid: 9, hello: 10, ack: 11 } as const;
/** Codes 1000 and 1001 would end the session. */
const LEAVE = 4200;
const SILENCE_MS = 90_000;
const MAX_FRAME = 64 * 1024 * 1024;

const INTENTS_FIX =
  "open https://discord.com/developers/applications, choose the application, open Bot, and turn on Message Content Intent (and Server Members Intent or Presence Intent, if channels.discord.intents needs them)";
const FATAL: Readonly<Record<number, string>> = {
  4004: "Discord rejected the bot token: set a valid one in channels.discord.token (developer portal, Bot, Reset Token)",
  4010: "Discord refused the shard (4010)",
  4011: "the bot is in too many servers for one connection (4011): it would have to be sharded, which is not supported",
  4012: "Discord no longer supports this gateway version (4012): update OpenClaw",
  4013: `Discord rejected the intents as invalid (4013): ${INTENTS_FIX}`,
  4014: `Discord does not allow the intents (4014): ${INTENTS_FIX}`,
};
/** After these the session is gone. */
const FORGOTTEN: ReadonlySet<number> = new Set([4003, 4005, 4007, 4009]);

/** What a close code means for the next connection. */
export function endOf(code: number, error: Error | undefined): LineEnd {
  const fatal = FATAL[code];
  if (fatal !== undefined) return { next: "none", error: hopeless(fatal, code === 4004 ? "AUTH_FAILED" : "CONFIG_INVALID") };
  const why = error ?? unsure("receive", `Discord closed the connection (${code})`);
  return FORGOTTEN.has(code) ? { next: "identify", waitMs: 0, error: why } : { next: "resume", error: why };
}

/** Discord asks to wait one to five seconds before a new session. */
const pauseMs = (random: number): number => 1000 + Math.round(random * 4000);

export function openLine(options: LineOptions): Line {
  const { token, session, waiting } = options;
  const over = new AbortController();
  let seq: number | null = session?.seq ?? null;
  let isAcknowledged = true;
  let isPaused = false;
  let decided: LineEnd | undefined;

  const socket = openSocket({
    platform: "Discord",
    url: `${options.url.replace(/\/+$/, "")}/?v=10&encoding=json`,
    signal: options.signal,
    stopCode: LEAVE,
    silenceMs: SILENCE_MS,
    maxFrameBytes: MAX_FRAME,
    proxy: options.proxy,
    onMessage: read,
    onAlive: () => options.onAlive(),
    onGarbage: (text) => options.onGarbage(`${text.length} characters that are not JSON`),
  });

  function leave(end: LineEnd): void {
    decided ??= end;
    socket.close(LEAVE, end.error);
  }

  const send = (op: number, d: unknown): Promise<void> => socket.send({ op, d }).catch(() => {});

  async function beat(everyMs: number): Promise<void> {
    await waiting.sleep(everyMs * waiting.random(), over.signal);
    while (!over.signal.aborted) {
      // While reading is paused, answers wait unread.
      if (!isAcknowledged && !isPaused) return leave({ next: "resume", error: unsure("receive", "Discord did not answer a heartbeat") });
      isAcknowledged = false;
      await send(OP.heartbeat, seq);
      await waiting.sleep(everyMs, over.signal);
    }
  }

  function greet(hello: Fields): void {
    void beat(Math.max(1, numberOf(hello["heartbeat_interval"]) ?? 41_250));
    if (session) return void send(OP.resume, { token, session_id: session.id, seq: session.seq });
    const properties = { os: process.platform, browser: "openclaw", device: "openclaw" };
    void send(OP.identify, { token, intents: options.intents, properties, ...(options.presence ? { presence: options.presence } : {}) });
  }

  function read(message: unknown): void {
    const frame = fieldsOf(message);
    const data = fieldsOf(frame?.["d"]) ?? {};
    switch (frame?.["op"]) {
      case OP.dispatch: {
        const [type, number] = [textOf(frame["t"]), numberOf(frame["s"])];
        if (type === undefined || number === undefined) return options.onGarbage("an event without a name or sequence number");
        seq = number;
        return options.onEvent(type, data, number);
      }
      case OP.heartbeat:
        return void send(OP.heartbeat, seq);
      case OP.ack:
        isAcknowledged = true;
        return;
      case OP.hello:
        return greet(data);
      case OP.reconnect:
        return leave({ next: "resume" });
      case OP.invalid:
        return leave(frame["d"] === true ? { next: "resume" } : { next: "identify", waitMs: pauseMs(waiting.random()) });
      default:
        return options.onGarbage(`a frame with the unknown opcode ${JSON.stringify(frame?.["op"])}`);
    }
  }

  return {
    ended: socket.ended.then(({ code, error }) => {
      over.abort();
      return decided ?? endOf(code, error);
    }),
    setPresence: (presence) => socket.send({ op: OP.presence, d: presence }),
    flow(isOpen) {
      isPaused = !isOpen;
      if (isOpen) isAcknowledged = true;
      socket.flow(isOpen);
    },
  };
}
