/** One connection from its beginning to its end. */
import type { IrcAccount } from "../account.ts";
import { type ChannelError, type KitLog, messageOf, notSent } from "openclaw/plugin-sdk/channel-kit";
import { loadClient, type IrcMessage, type LibraryClient } from "./library.ts";
import { createRegistration, serverText } from "./registration.ts";
import { LineTransport } from "./transport.ts";

export interface SessionTimes {
  readonly connectMs: number;
  /** Until the server's welcome. */
  readonly registerMs: number;
  readonly pingIntervalMs: number;
  /** Silence that means that the connection is dead. */
  readonly pingTimeoutMs: number;
  /** For the server to close after our QUIT. */
  readonly quitMs: number;
}

export const TIMES: SessionTimes = { connectMs: 15_000, registerMs: 30_000, pingIntervalMs: 30_000, pingTimeoutMs: 120_000, quitMs: 2_000 };

export interface SessionOptions {
  readonly account: IrcAccount;
  readonly log: KitLog;
  readonly times: SessionTimes;
  readonly ca?: string | undefined;
  /** Every line after the welcome, and the welcome. */
  onMessage(message: IrcMessage): void;
}

export interface Session {
  /** The one that we have now. */
  readonly nick: string;
  /** How others see us: `nick!user@host`, once it was seen. */
  readonly prefix: string | undefined;
  /** Fires when it has ended. */
  readonly signal: AbortSignal;
  /** Resolves with the welcome; rejects with what prevented it. */
  readonly ready: Promise<void>;
  /** Resolves with what ended it, when nothing of it is left. */
  readonly ended: Promise<ChannelError>;
  /** Resolves when the line is with the operating system. Rejects with a `ChannelError` when it did not leave, with another one when that is not certain. */
  write(line: string): Promise<void>;
  lower(text: string): string;
  isUs(nick: string): boolean;
  /** Characters that channels begin with. */
  readonly channelTypes: string;
  readonly statusMarks: string;
  /** Whether reading goes on. */
  flow(isOn: boolean): void;
  quit(reason: string): Promise<void>;
}

function connect(client: LibraryClient, { account, times, log, ca }: SessionOptions): void {
  client.connect({
    host: account.host,
    port: account.port,
    tls: account.tls,
    ca,
    connectTimeoutMs: times.connectMs,
    nick: account.nick,
    username: account.username,
    gecos: account.realname,
    password: account.password || undefined,
    account: account.sasl ?? {},
    version: "",
    auto_reconnect: false,
    ping_interval: times.pingIntervalMs / 1000,
    ping_timeout: times.pingTimeoutMs / 1000,
    transport: LineTransport,
    onUnreadable: (error) => log.debug?.(`a line could not be read: ${messageOf(error)}`),
  });
}

const listed = (value: unknown, otherwise: string): string => {
  if (Array.isArray(value)) return value.join("");
  return typeof value === "string" ? value : otherwise;
};

/** What is known of a connection while it lasts. */
interface State {
  // Stored here and not by the library, which believes every line.
  nick: string;
  prefix: string | undefined;
  isWelcome: boolean;
  /** What ends it, where that is known before its end. */
  why: ChannelError | undefined;
  readonly over: AbortController;
  readonly ready: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<ChannelError>;
}

function hear(
  client: LibraryClient,
  state: State,
  { account, onMessage }: SessionOptions,
  destroy: (error: ChannelError) => void,
): (message: IrcMessage) => void {
  const registration = createRegistration(account);
  function register(message: IrcMessage): void {
    const step = registration.step(message);
    if (step?.kind === "nick") client.connection.transport?.writeLine(`NICK ${step.nick}`);
    if (step?.kind === "over") destroy(step.error);
    if (step?.kind !== "welcome") return;
    state.isWelcome = true;
    state.nick = message.params[0] ?? state.nick;
    onMessage(message);
    state.ready.resolve();
  }
  return (message) => {
    if (!state.isWelcome) return register(message);
    const { command, nick, ident, hostname } = message;
    if (command === "ERROR") state.why ??= notSent("connect", `${account.host} closed the connection: ${serverText(message) || "no reason given"}`);
    if (nick === state.nick && ident !== "" && hostname !== "") state.prefix = message.prefix;
    if (command === "NICK" && nick === state.nick) state.nick = message.params[0] || state.nick;
    onMessage(message);
  };
}

function face(client: LibraryClient, state: State, times: SessionTimes): Session {
  const { over, ready, ended } = state;
  return {
    get nick() {
      return state.nick;
    },
    get prefix() {
      return state.prefix?.startsWith(`${state.nick}!`) ? state.prefix : undefined;
    },
    signal: over.signal,
    ready: ready.promise,
    ended: ended.promise,
    write(line) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const { transport } = client.connection;
      if (over.signal.aborted || !transport?.isWritable) reject(notSent("send", "not connected"));
      else transport.writeLine(line, (error) => (error ? reject(error) : resolve()));
      return promise;
    },
    lower: (text) => client.caseLower(text),
    isUs: (name) => client.caseLower(name) === client.caseLower(state.nick),
    get channelTypes() {
      return listed(client.network.options["CHANTYPES"], "#&");
    },
    get statusMarks() {
      return listed(client.network.options["STATUSMSG"], "");
    },
    flow(isOn) {
      if (isOn) client.connection.transport?.resume();
      else client.connection.transport?.pause();
    },
    async quit(reason) {
      state.why ??= notSent("connect", "it was stopped");
      const force = setTimeout(() => client.connection.transport?.close(true), times.quitMs);
      client.connection.transport?.writeLine(`QUIT :${reason}`, (error) => {
        // Without a connection there is nobody to say goodbye to.
        if (error) client.connection.transport?.close(true);
      });
      await ended.promise;
      clearTimeout(force);
    },
  };
}

/** Connects and registers. */
export function openSession(options: SessionOptions): Session {
  const { account, times } = options;
  const client = new (loadClient())();
  const state: State = {
    nick: account.nick,
    prefix: undefined,
    isWelcome: false,
    why: undefined,
    over: new AbortController(),
    ready: Promise.withResolvers<void>(),
    ended: Promise.withResolvers<ChannelError>(),
  };
  // Nobody needs to wait for the welcome.
  state.ready.promise.catch(() => {});
  const destroy = (error: ChannelError): void => {
    state.why ??= error;
    client.connection.transport?.close(true);
  };
  const late = setTimeout(() => {
    if (!state.isWelcome) destroy(notSent("connect", `${account.host} did not complete the registration within ${times.registerMs / 1000} s`));
  }, times.registerMs);
  client.connection.on("message", hear(client, state, options, destroy));
  client.on("ping timeout", () => destroy(notSent("connect", `${account.host} has been silent for ${times.pingTimeoutMs / 1000} s`)));
  client.on("socket close", (error) => {
    clearTimeout(late);
    const failure = state.why ?? notSent("connect", `${account.host}:${account.port}: ${error ? messageOf(error) : "the connection was closed"}`);
    state.over.abort();
    state.ready.reject(failure);
    state.ended.resolve(failure);
  });
  connect(client, options);
  return face(client, state, times);
}
