/**
 * A small scripted IRC server for what ngIRCd does not have. Capabilities, SASL, account and message tags, a NickServ, and lines that no
 * real server sends.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect } from "vitest";
import { onLines, readLine, type Heard } from "./person.ts";

export interface IrcServerOptions {
  /** As it stands in `CAP LS`: `sasl=PLAIN account-tag`. Undefined: the server does not know CAP. */
  readonly caps?: string;
  /** Who can sign in. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Nicks that are taken. */
  readonly taken?: readonly string[];
  /** Nick → its password at NickServ. */
  readonly registered?: Readonly<Record<string, string>>;
  /** Says PING before the welcome, and waits for the answer. */
  readonly pingsFirst?: boolean;
  /** Target → what a message to it is answered with: `404 :Cannot send to channel`. */
  readonly refuses?: Readonly<Record<string, string>>;
  /** The line with which the connection breaks. */
  readonly breaksAt?: string;
  /** More of `005`. */
  readonly supports?: string;
}

export interface IrcConnection {
  readonly lines: readonly Heard[];
  readonly nick: string;
  readonly account: string | undefined;
  readonly isOpen: boolean;
  send(line: string): void;
  /** Bytes as they are. */
  sendBytes(bytes: Buffer): void;
  drop(): void;
  /** Waits for a line, past or future, that fits. */
  gets(fits: (line: Heard) => boolean, what?: string): Promise<Heard>;
}

export interface IrcServer extends AsyncDisposable {
  readonly port: number;
  readonly connections: readonly IrcConnection[];
  /** Waits for the connection with this number, counted from 0, to be welcome. */
  welcome(number?: number): Promise<IrcConnection>;
}

const NAME = "irc.fake.invalid";

interface State {
  nick: string;
  user: string | undefined;
  account: string | undefined;
  /** Between CAP LS and CAP END. */
  negotiating: boolean;
  mechanism: string | undefined;
  secret: string;
  /** What the PING before the welcome wants. */
  awaited: string | undefined;
  welcome: boolean;
}

function authenticate(state: State, text: string, { accounts = {} }: IrcServerOptions, send: (line: string) => void): void {
  if (state.mechanism === undefined) {
    if (text.toUpperCase() !== "PLAIN") return send(`:${NAME} 908 * PLAIN :are available SASL mechanisms`);
    state.mechanism = "PLAIN";
    return send("AUTHENTICATE +");
  }
  state.secret += text === "+" ? "" : text;
  // A full line is followed by another one.
  if (text.length === 400) return;
  const [, account = "", password = ""] = Buffer.from(state.secret, "base64").toString("utf8").split("\0");
  state.mechanism = undefined;
  state.secret = "";
  if (account === "" || accounts[account] !== password) return send(`:${NAME} 904 * :SASL authentication failed`);
  state.account = account;
  send(`:${NAME} 900 * * ${account} :You are now logged in as ${account}`);
  send(`:${NAME} 903 * :SASL authentication successful`);
}

function nickserv(state: State, text: string, { registered = {} }: IrcServerOptions, taken: Set<string>, send: (line: string) => void): void {
  const say = (words: string): void => send(`:NickServ!services@services.invalid NOTICE ${state.nick} :${words}`);
  const [command = "", ...words] = text.split(" ");
  if (command === "IDENTIFY") {
    if (registered[state.nick] !== words[0]) return say("Invalid password.");
    state.account = state.nick;
    return say("You are now identified.");
  }
  if (command === "GHOST" && registered[words[0] ?? ""] === words[1]) {
    taken.delete(words[0]!);
    return say(`${words[0]} has been ghosted.`);
  }
  if (command === "REGISTER") return say(`An email was sent to ${words[1]}.`);
  say("Unknown command.");
}

function answer(state: State, line: Heard, options: IrcServerOptions, taken: Set<string>, send: (line: string) => void): void {
  const { command, params } = line;
  const [first = "", second = ""] = params;
  if (command === "CAP" && options.caps !== undefined) {
    if (first === "LS") {
      state.negotiating = true;
      send(`:${NAME} CAP * LS :${options.caps}`);
    } else if (first === "REQ") send(`:${NAME} CAP * ACK :${params.at(-1)}`);
    else if (first === "END") state.negotiating = false;
  } else if (command === "CAP") send(`:${NAME} 421 * CAP :Unknown command`);
  else if (command === "AUTHENTICATE") authenticate(state, first, options, send);
  else if (command === "NICK") {
    if (taken.has(first)) return send(`:${NAME} 433 ${state.nick || "*"} ${first} :Nickname is already in use.`);
    if (state.welcome) send(`:${state.nick}!~u@host.invalid NICK :${first}`);
    state.nick = first;
  } else if (command === "USER") state.user = first;
  else if (command === "PING") send(`:${NAME} PONG ${NAME} :${params.at(-1)}`);
  else if (command === "PONG" && params.at(-1) === state.awaited) state.awaited = undefined;
  else if (command === "PRIVMSG" && first === "NickServ") nickserv(state, second, options, taken, send);
  else if (command === "PRIVMSG" && options.refuses?.[first] !== undefined) {
    const [numeric, ...words] = options.refuses[first].split(" ");
    send(`:${NAME} ${numeric} ${state.nick} ${first} ${words.join(" ")}`);
  } else if (command === "JOIN") {
    send(`:${state.nick}!~u@host.invalid JOIN ${first}`);
    send(`:${NAME} 353 ${state.nick} = ${first} :${state.nick}`);
    send(`:${NAME} 366 ${state.nick} ${first} :End of /NAMES list.`);
  }
}

function greet(state: State, options: IrcServerOptions, send: (line: string) => void): void {
  state.welcome = true;
  send(`:${NAME} 001 ${state.nick} :Welcome ${state.nick}`);
  send(`:${NAME} 005 ${state.nick} CHANTYPES=# CASEMAPPING=rfc1459 NICKLEN=30 ${options.supports ?? ""} :are supported by this server`);
  send(`:${NAME} 422 ${state.nick} :No MOTD`);
}

function attend(socket: Socket, options: IrcServerOptions, taken: Set<string>): IrcConnection & { readonly isWelcome: boolean } {
  const lines: Heard[] = [];
  const state: State = {
    nick: "",
    user: undefined,
    account: undefined,
    negotiating: false,
    mechanism: undefined,
    secret: "",
    awaited: undefined,
    welcome: false,
  };
  const send = (line: string): void => void socket.write(`${line}\r\n`);
  if (options.pingsFirst) send(`PING :${(state.awaited = "before-all")}`);
  socket.on("error", () => {});
  onLines(socket, (raw) => {
    const line = readLine(raw);
    lines.push(line);
    if (raw === options.breaksAt) socket.destroy();
    else if (line.command === "QUIT") socket.end(`ERROR :Closing link\r\n`);
    answer(state, line, options, taken, send);
    if (!state.welcome && state.nick !== "" && state.user !== undefined && !state.negotiating && state.awaited === undefined) greet(state, options, send);
  });
  return {
    lines,
    get nick() {
      return state.nick;
    },
    get account() {
      return state.account;
    },
    get isOpen() {
      return !socket.destroyed;
    },
    get isWelcome() {
      return state.welcome;
    },
    send,
    sendBytes: (bytes) => void socket.write(bytes),
    drop: () => void socket.destroy(),
    async gets(fits, what = "a line") {
      const find = (): Heard | undefined => lines.find(fits);
      await expect.poll(() => find() !== undefined, { timeout: 15_000, interval: 10, message: `the server waits for ${what}` }).toBe(true);
      return find()!;
    },
  };
}

export async function startIrcServer(options: IrcServerOptions = {}): Promise<IrcServer> {
  const connections: ReturnType<typeof attend>[] = [];
  const sockets = new Set<Socket>();
  const taken = new Set(options.taken);
  const server = createServer((socket) => {
    sockets.add(socket);
    connections.push(attend(socket, options, taken));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    async welcome(number = 0) {
      await expect.poll(() => connections[number]?.isWelcome ?? false, { timeout: 15_000, interval: 10, message: `connection ${number}` }).toBe(true);
      return connections[number]!;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
