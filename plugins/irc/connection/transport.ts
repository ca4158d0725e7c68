/** Lines over a socket, in the form that irc-framework takes. */
import { EventEmitter } from "node:events";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface TransportOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Certificates that are trusted instead of the usual ones. */
  readonly ca?: string | undefined;
  /** Milliseconds until the connection must stand. */
  readonly connectTimeoutMs: number;
  /** A line that could not be dealt with; the connection goes on. */
  onUnreadable(error: unknown): void;
}

/** Tags and text of the longest line that servers may send, and some more. */
const MAX_LINE = 16 * 1024;
const NEWLINE = 0x0a;

const strict = new TextDecoder("utf-8", { fatal: true });

/** UTF-8; what is none is read as Latin 1, which older clients write. */
function decode(line: Buffer): string {
  try {
    return strict.decode(line);
  } catch {
    return line.toString("latin1");
  }
}

/** Emits `open`, `line` and, once, `close` with the error if there was one. */
export class LineTransport extends EventEmitter {
  readonly options: TransportOptions;
  #socket: Socket | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #error: Error | undefined;
  #isOpen = false;

  constructor(options: TransportOptions) {
    super();
    this.options = options;
  }

  connect(): void {
    const { host, port, tls, ca, connectTimeoutMs } = this.options;
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = tls ? connectTls({ host, port, ...name, ...(ca === undefined ? {} : { ca }) }) : connectPlain({ host, port });
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    const late = setTimeout(() => socket.destroy(new Error(`no connection within ${connectTimeoutMs / 1000} s`)), connectTimeoutMs);
    socket.on(tls ? "secureConnect" : "connect", () => {
      clearTimeout(late);
      this.#isOpen = true;
      this.emit("open");
    });
    socket.on("error", (error) => void (this.#error = error));
    socket.on("data", (data: Buffer) => this.#read(data));
    // The server has nothing more to say: neither have we.
    socket.on("end", () => void socket.end());
    socket.on("close", () => {
      clearTimeout(late);
      this.#isOpen = false;
      this.emit("close", this.#error ?? false);
    });
  }

  #read(data: Buffer): void {
    let rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = decode(rest.subarray(0, end)).replace(/\r$/, "");
      rest = rest.subarray(end + 1);
      try {
        this.emit("line", line);
      } catch (error) {
        this.options.onUnreadable(error);
      }
    }
    this.#rest = rest;
    if (rest.length > MAX_LINE) this.#socket?.destroy(new Error(`the server sent a line of more than ${MAX_LINE} bytes`));
  }

  get isWritable(): boolean {
    return this.#isOpen && this.#socket?.writable === true;
  }

  /** The only function that writes: whatever a text holds, it ends no line before its end. */
  writeLine(line: string, written?: (error?: Error | null) => void): void {
    // oxlint-disable-next-line no-control-regex
    if (this.isWritable) this.#socket!.write(`${line.replace(/[\r\n\0]+/g, " ")}\r\n`, written);
    else written?.(new Error("not connected"));
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(force: boolean): void {
    if (force || !this.#isOpen) this.#socket?.destroy();
    else this.#socket?.end();
  }

  disposeSocket(): void {
    this.#socket?.destroy();
  }

  /** Ours is fixed. */
  setEncoding(): boolean {
    return true;
  }
}
