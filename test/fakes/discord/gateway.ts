/** The gateway of a fake Discord: hello, identify, heartbeats, resume with replay, and the close codes of the documentation. */
import type { Asked, FakeSocket } from "../../../src/plugin-testing/index.ts";
import type { Message, World } from "./world.ts";

interface Session {
  readonly id: string;
  readonly intents: number;
  seq: number;
  /** Everything that was sent in it, for those who come back. */
  readonly sent: { readonly op: 0; readonly t: string; readonly s: number; readonly d: unknown }[];
  socket: FakeSocket | undefined;
  isOver: boolean;
}

export interface Identified {
  readonly intents: number;
  readonly presence: unknown;
  readonly properties: unknown;
}

export interface GatewayOptions {
  readonly world: World;
  readonly token: () => string;
  readonly applicationId: string;
  /** Where clients connect. */
  readonly url: () => string;
}

export interface FakeGateway {
  connect(socket: FakeSocket, asked: Asked): void;
  /** Sends an event to everybody whose intents cover it. */
  dispatch(t: string, d: Record<string, unknown>, need?: Need): void;
  /** What is dispatched by it goes out at its end, the last first. */
  lastFirst(act: () => void): void;
  /** The latest event of a message, once more, under a sequence number of its own. */
  again(messageId: string): void;
  /** All sessions are forgotten: nobody can resume. */
  forget(): void;
  /** Milliseconds between heartbeats. */
  heartbeatMs: number;
  /** Heartbeats are answered. */
  acknowledges: boolean;
  /** Privileged intents that the portal has switched on. */
  allowed: number;
  readonly identified: readonly Identified[];
  readonly resumed: number;
  readonly presences: readonly unknown[];
  readonly heartbeats: number;
  /** Sockets with a session. */
  readonly live: number;
  /** How often two sockets had sessions at the same time. */
  readonly conflicts: number;
  readonly closeCodes: readonly number[];
  /** Op 7 to everybody. */
  askToReconnect(): void;
  /** Op 9 to everybody. */
  invalidate(mayResume: boolean): void;
  closeAll(code: number): void;
  sendRaw(text: unknown): void;
}

export type Need = "guild" | "direct" | "guildReaction" | "directReaction" | "guildPoll" | "directPoll" | "member" | "always";

const BITS: Readonly<Record<Need, number>> = {
  guild: 1 << 9,
  direct: 1 << 12,
  guildReaction: 1 << 10,
  directReaction: 1 << 13,
  guildPoll: 1 << 24,
  directPoll: 1 << 25,
  member: 1 << 1,
  always: 0,
};
const PRIVILEGED = (1 << 1) | (1 << 8) | (1 << 15);
const MESSAGE_CONTENT = 1 << 15;
const KNOWN_INTENTS = 2 ** 26 - 1;
const MAX_FRAME = 4096;
const MAX_SENT = 120;

/** Without the intent, only what is written to the bot, or names it, has content. */
function visible(d: Record<string, unknown>, session: Session, bot: string): Record<string, unknown> {
  if (typeof d["content"] !== "string" || (session.intents & MESSAGE_CONTENT) !== 0 || d["guild_id"] === undefined) return d;
  const message = d as unknown as Message;
  if (message.author.id === bot || message.mentions.some((user) => user.id === bot)) return d;
  return { ...d, content: "", embeds: [], attachments: [], components: [] };
}

interface Line {
  session: Session | undefined;
  frames: number[];
}

export function createGateway({ world, token, applicationId, url }: GatewayOptions): FakeGateway {
  const sessions = new Map<string, Session>();
  const identified: Identified[] = [];
  const presences: unknown[] = [];
  const closeCodes: number[] = [];
  const counts = { resumed: 0, heartbeats: 0, conflicts: 0 };
  const settings = { heartbeatMs: 41_250, acknowledges: true, allowed: PRIVILEGED };
  let made = 0;
  let held: (() => void)[] | undefined;

  const liveSessions = (): Session[] => [...sessions.values()].filter(({ socket }) => socket?.isOpen === true);

  function emit(session: Session, t: string, d: unknown): void {
    session.seq += 1;
    const event = { op: 0 as const, t, s: session.seq, d };
    session.sent.push(event);
    session.socket?.send(event);
  }

  function guildCreate(guildId: string): Record<string, unknown> {
    const { members, bans: _bans, events: _events, ...guild } = world.guilds.get(guildId)!;
    const inside = [...world.channels.values()].filter((channel) => channel.guild_id === guildId);
    return {
      ...guild,
      joined_at: new Date().toISOString(),
      large: false,
      unavailable: false,
      member_count: members.size,
      members: [members.get(world.bot.id)],
      channels: inside.filter(({ type }) => type < 10 || type > 12).map(({ guild_id: _guild, ...channel }) => channel),
      threads: inside.filter(({ type }) => type >= 10 && type <= 12),
    };
  }

  function attach(line: Line, session: Session, socket: FakeSocket): void {
    // A client that resumes may come before the old connection is known to be dead.
    if (liveSessions().some((other) => other !== session)) counts.conflicts += 1;
    line.session = session;
    session.socket = socket;
  }

  function identify(line: Line, socket: FakeSocket, d: Record<string, unknown>): void {
    if (line.session) return socket.close(4005, "Already authenticated.");
    if (d["token"] !== token()) return socket.close(4004, "Authentication failed.");
    const { intents, properties, presence } = d;
    if (typeof intents !== "number" || !Number.isInteger(intents) || intents < 0 || intents > KNOWN_INTENTS) return socket.close(4013, "Invalid intent(s).");
    if (typeof properties !== "object" || properties === null) return socket.close(4002, "Error while decoding payload.");
    if ((intents & PRIVILEGED & ~settings.allowed) !== 0) return socket.close(4014, "Disallowed intent(s).");
    made += 1;
    const session: Session = { id: `session-${made}-${world.id()}`, intents, seq: 0, sent: [], socket: undefined, isOver: false };
    sessions.set(session.id, session);
    attach(line, session, socket);
    identified.push({ intents, presence, properties });
    emit(session, "READY", {
      v: 10,
      user: world.bot,
      guilds: [...world.guilds.keys()].map((id) => ({ id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: url(),
      application: { id: applicationId, flags: 0 },
      private_channels: [],
    });
    for (const id of world.guilds.keys()) emit(session, "GUILD_CREATE", guildCreate(id));
  }

  function resume(line: Line, socket: FakeSocket, d: Record<string, unknown>): void {
    if (line.session) return socket.close(4005, "Already authenticated.");
    if (d["token"] !== token()) return socket.close(4004, "Authentication failed.");
    const session = sessions.get(String(d["session_id"]));
    if (!session || session.isOver) return socket.send({ op: 9, d: false });
    const seq = d["seq"];
    if (typeof seq !== "number" || seq > session.seq) return socket.close(4007, "Invalid seq.");
    attach(line, session, socket);
    counts.resumed += 1;
    for (const event of session.sent) if (event.s > seq) socket.send(event);
    emit(session, "RESUMED", {});
  }

  function dispatch(t: string, d: Record<string, unknown>, need: Need): void {
    for (const session of sessions.values()) {
      if (!session.isOver && (need === "always" || (session.intents & BITS[need]) !== 0)) emit(session, t, visible(d, session, world.bot.id));
    }
  }

  function receive(line: Line, socket: FakeSocket, message: unknown): void {
    const size = Buffer.byteLength(JSON.stringify(message));
    if (size > MAX_FRAME) return socket.close(4002, "Error while decoding payload.");
    const now = Date.now();
    line.frames = [...line.frames.filter((at) => now - at < 60_000), now];
    if (line.frames.length > MAX_SENT) return socket.close(4008, "Rate limited.");
    const { op, d } = message as { op?: unknown; d?: unknown };
    const fields = typeof d === "object" && d !== null ? (d as Record<string, unknown>) : {};
    if (op === 2) return identify(line, socket, fields);
    if (op === 6) return resume(line, socket, fields);
    if (op === 1) {
      counts.heartbeats += 1;
      if (settings.acknowledges) socket.send({ op: 11 });
      return;
    }
    if (!line.session) return socket.close(4003, "Not authenticated.");
    if (op === 3) return void presences.push(d);
    if (op !== 4 && op !== 8) socket.close(4001, "Unknown opcode.");
  }

  const toAll = (message: unknown): void => {
    for (const { socket } of liveSessions()) socket?.send(message);
  };

  return {
    connect(socket, asked) {
      const line: Line = { session: undefined, frames: [] };
      if (asked.query.get("v") !== "10" || asked.query.get("encoding") !== "json") return socket.close(4012, "Invalid API version.");
      socket.onMessage((message) => receive(line, socket, message));
      socket.onClose((code) => {
        closeCodes.push(code);
        if (!line.session || line.session.socket !== socket) return;
        line.session.socket = undefined;
        // Leaving politely ends the session.
        if (code === 1000 || code === 1001) line.session.isOver = true;
      });
      socket.send({ op: 10, d: { heartbeat_interval: settings.heartbeatMs } });
    },
    dispatch(t, d, need = "always") {
      if (held) held.push(() => dispatch(t, d, need));
      else dispatch(t, d, need);
    },
    lastFirst(act) {
      const events: (() => void)[] = (held = []);
      act();
      held = undefined;
      for (const send of events.toReversed()) send();
    },
    again(messageId) {
      for (const session of sessions.values()) {
        const event = session.sent.findLast(({ t, d }) => t === "MESSAGE_CREATE" && (d as { id?: unknown }).id === messageId);
        const found =
          event ??
          [...sessions.values()].flatMap(({ sent }) => sent).findLast(({ t, d }) => t === "MESSAGE_CREATE" && (d as { id?: unknown }).id === messageId);
        if (found && !session.isOver) emit(session, found.t, found.d);
      }
    },
    forget: () => sessions.forEach((session) => (session.isOver = true)),
    identified,
    presences,
    closeCodes,
    get resumed() {
      return counts.resumed;
    },
    get heartbeats() {
      return counts.heartbeats;
    },
    get conflicts() {
      return counts.conflicts;
    },
    get live() {
      return liveSessions().length;
    },
    askToReconnect: () => toAll({ op: 7, d: null }),
    invalidate(mayResume) {
      if (!mayResume) for (const session of liveSessions()) session.isOver = true;
      toAll({ op: 9, d: mayResume });
    },
    closeAll(code) {
      for (const { socket } of liveSessions()) socket?.close(code);
    },
    sendRaw: toAll,
    get heartbeatMs() {
      return settings.heartbeatMs;
    },
    set heartbeatMs(ms) {
      settings.heartbeatMs = ms;
    },
    get acknowledges() {
      return settings.acknowledges;
    },
    set acknowledges(on) {
      settings.acknowledges = on;
    },
    get allowed() {
      return settings.allowed;
    },
    set allowed(bits) {
      settings.allowed = bits;
    },
  };
}
