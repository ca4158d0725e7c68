import { StringDecoder } from "node:string_decoder";
import type { SecretStream } from "../../base/secret-search.ts";
import type { TerminalText } from "./terminal-text.ts";

/** Control characters except tab, line feed and carriage return; formatting that is not seen; halves of pairs. */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Cs}]--[\t\n\r]]/gv;

/** The last `limit` characters of what was added. */
export class TailText {
  readonly #limit: number;
  #pieces: string[] = [];
  #length = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Characters ever added. */
  get total(): number {
    return this.#total;
  }

  get truncated(): boolean {
    return this.#total > this.#limit;
  }

  add(text: string): void {
    this.#total += text.length;
    if (text.length >= this.#limit) [this.#pieces, this.#length] = [[], 0];
    this.#pieces.push(text);
    this.#length += text.length;
    // Joined only when there is twice as much: each character is copied a bounded number of times.
    if (this.#length > 2 * this.#limit || this.#pieces.length > 1024) this.#join();
  }

  text(): string {
    this.#join();
    return this.#pieces[0] ?? "";
  }

  /** What there is; afterwards there is nothing. */
  take(): string {
    const text = this.text();
    this.#pieces = [];
    this.#length = 0;
    return text;
  }

  #join(): void {
    const joined = this.#pieces.join("");
    const from = joined.length - this.#limit;
    // Neither half of a pair is kept alone.
    const text = from > 0 ? joined.slice(/[\uDC00-\uDFFF]/.test(joined[from]!) ? from + 1 : from) : joined;
    this.#pieces = [text];
    this.#length = text.length;
  }
}

export interface OutputLimits {
  /** Characters kept of everything. */
  readonly kept: number;
  /** Characters kept of each stream until somebody asks for them. */
  readonly pending: number;
}

export const OUTPUT_LIMITS: OutputLimits = { kept: 200_000, pending: 30_000 };
const TAIL_CHARS = 2000;

/** What a command wrote: readable, and bounded while it is being written. */
export class CommandOutput {
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #all: TailText;
  readonly #pending: { readonly stdout: TailText; readonly stderr: TailText };
  readonly #terminal: TerminalText | undefined;
  readonly #secrets: { readonly stdout: SecretStream; readonly stderr: SecretStream } | undefined;

  /** `terminal` is given when the standard output is one; `secrets` makes what masks a stream before any of it is kept. */
  constructor({ kept, pending }: OutputLimits = OUTPUT_LIMITS, terminal?: TerminalText, secrets?: () => SecretStream) {
    this.#terminal = terminal;
    this.#secrets = secrets && { stdout: secrets(), stderr: secrets() };
    this.#all = new TailText(kept);
    this.#pending = { stdout: new TailText(pending), stderr: new TailText(pending) };
  }

  add(stream: "stdout" | "stderr", chunk: Buffer): void {
    const text = this.#decoders[stream].write(chunk);
    this.#keep(stream, stream === "stdout" && this.#terminal ? this.#terminal.write(text) : text);
  }

  /** Half characters at the very end become visible. */
  end(): void {
    if (this.#terminal) this.#keep("stdout", this.#terminal.write(this.#decoders.stdout.end()) + this.#terminal.end());
    for (const stream of ["stdout", "stderr"] as const) {
      this.#keep(stream, this.#decoders[stream].end());
      this.#add(stream, this.#secrets?.[stream].end() ?? "");
    }
  }

  get total(): number {
    return this.#all.total;
  }

  get truncated(): boolean {
    return this.#all.truncated;
  }

  aggregated(): string {
    return this.#all.text();
  }

  tail(): string {
    return this.#all.text().slice(-TAIL_CHARS);
  }

  /** What came since the last time, of each stream. */
  drain(): string {
    const parts = [this.#pending.stdout.take(), this.#pending.stderr.take()].filter((part) => part !== "");
    return parts.map((part, index) => (index < parts.length - 1 && !part.endsWith("\n") ? `${part}\n` : part)).join("");
  }

  #keep(stream: "stdout" | "stderr", text: string): void {
    const clean = text.replace(UNSEEN, "");
    if (clean !== "") this.#add(stream, this.#secrets ? this.#secrets[stream].push(clean) : clean);
  }

  #add(stream: "stdout" | "stderr", text: string): void {
    if (text === "") return;
    this.#all.add(text);
    this.#pending[stream].add(text);
  }
}
