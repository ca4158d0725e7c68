/** What we use of irc-framework: registration with capabilities and SASL, answers to PING, and its reading of lines. */
import { createRequire } from "node:module";
import type { LineTransport, TransportOptions } from "./transport.ts";

/** A line from the server. */
export interface IrcMessage {
  readonly command: string;
  readonly params: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly prefix: string;
  readonly nick: string;
  readonly ident: string;
  readonly hostname: string;
}

export interface ClientOptions extends TransportOptions {
  readonly nick: string;
  readonly username: string;
  readonly gecos: string;
  readonly password: string | undefined;
  /** For SASL. An empty one keeps the library from trying the server's password there. */
  readonly account: { readonly account?: string; readonly password?: string };
  readonly version: "";
  readonly auto_reconnect: false;
  /** Seconds. */
  readonly ping_interval: number;
  readonly ping_timeout: number;
  readonly transport: typeof LineTransport;
}

export interface LibraryClient {
  readonly connection: {
    readonly transport: LineTransport | null;
    on(event: "message", listener: (message: IrcMessage) => void): void;
  };
  readonly network: { readonly options: Readonly<Record<string, unknown>> };
  connect(options: ClientOptions): void;
  on(event: "socket close", listener: (error: Error | false | undefined) => void): void;
  on(event: "ping timeout", listener: () => void): void;
  caseLower(text: string): string;
}

/** Its client alone, without the sockets and encodings that it brings: those are ours, and it takes 8 MB less. */
export function loadClient(): new () => LibraryClient {
  const require = createRequire(import.meta.url);
  return require("irc-framework/src/client") as new () => LibraryClient;
}
