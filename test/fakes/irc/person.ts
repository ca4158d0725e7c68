/** A person on an IRC server, with a plain socket instead of our client. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { until } from "../../harness/until.ts";

export interface Heard {
  readonly raw: string;
  readonly from: string;
  readonly command: string;
  readonly params: readonly string[];
}

export interface Person extends AsyncDisposable {
  readonly nick: string;
  readonly heard: readonly Heard[];
  write(line: string): void;
  say(target: string, text: string): void;
  join(channel: string): Promise<void>;
  /** Waits for a line, past or future, that fits. */
  hears(fits: (line: Heard) => boolean, what?: string): Promise<Heard>;
  /** Everything that the server had for the person before this was heard. */
  settled(): Promise<void>;
  /** Texts of PRIVMSGs from one nick, to a channel or to the person. */
  texts(from: string, target?: string): string[];
}

export interface PersonOptions {
  readonly port: number;
  readonly nick: string;
  readonly password?: string;
  readonly user?: string;
  /** The server's certificate: speaks TLS. */
  readonly ca?: string | undefined;
}

export function readLine(raw: string): Heard {
  const [, from = "", command = "", rest = ""] = /^(?:@\S+ +)?(?::(\S+) +)?(\S+) *(.*)$/s.exec(raw) ?? [];
  const at = rest.startsWith(":") ? 0 : rest.indexOf(" :");
  const head = at < 0 ? rest : rest.slice(0, at);
  const tail = at < 0 ? [] : [rest.slice(rest.startsWith(":") ? 1 : at + 2)];
  return { raw, from, command: command.toUpperCase(), params: [...head.split(" ").filter(Boolean), ...tail] };
}

/** Splits what arrives into lines. */
export function onLines(socket: Socket, take: (line: string) => void): void {
  let rest = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const line = rest.subarray(0, end).toString("utf8").replace(/\r$/, "");
      rest = rest.subarray(end + 1);
      take(line);
    }
  });
}

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Comes in and waits for the welcome. */
export async function startPerson({ port, nick, password, user = nick, ca }: PersonOptions): Promise<Person> {
  const socket = ca === undefined ? connect({ host: "127.0.0.1", port }) : connectTls({ host: "localhost", port, ca });
  const heard: Heard[] = [];
  let fences = 0;
  const write = (line: string): void => void socket.write(`${line}\r\n`);
  onLines(socket, (raw) => {
    const line = readLine(raw);
    heard.push(line);
    if (line.command === "PING") write(`PONG :${line.params.at(-1)}`);
  });
  socket.on("error", () => {});
  await once(socket, ca === undefined ? "connect" : "secureConnect");
  if (password !== undefined) write(`PASS ${password}`);
  write(`NICK ${nick}`);
  write(`USER ${user} 0 * :${nick}`);
  const hears = async (fits: (line: Heard) => boolean, what = "a line"): Promise<Heard> => {
    const find = (): Heard | undefined => heard.find(fits);
    await until(
      () => find() !== undefined,
      () => `${nick} waits for ${what}`,
    );
    return find()!;
  };
  await hears(({ command }) => command === "001", "the welcome");
  return {
    nick,
    heard,
    write,
    hears,
    async settled() {
      const token = `settled${(fences += 1)}`;
      write(`PING :${token}`);
      await hears(({ command, params }) => command === "PONG" && params.at(-1) === token, "an answer");
    },
    say: (target, text) => write(`PRIVMSG ${target} :${text}`),
    async join(channel) {
      write(`JOIN ${channel}`);
      await hears(({ command, params }) => command === "366" && sameName(params[1] ?? "", channel), `its place in ${channel}`);
    },
    texts: (from, target = nick) =>
      heard
        .filter((line) => line.command === "PRIVMSG" && sameName(line.from.split("!")[0]!, from) && sameName(line.params[0] ?? "", target))
        .map(({ params }) => params[1] ?? ""),
    async [Symbol.asyncDispose]() {
      if (socket.destroyed) return;
      const closed = once(socket, "close");
      socket.destroy();
      await closed;
    },
  };
}
