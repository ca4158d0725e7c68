import { StringDecoder } from "node:string_decoder";
import { formatBytes } from "../../base/text.ts";
import type { SecretStream } from "../../base/secret-search.ts";
import { createOutputFile, type OutputFile } from "./output-file.ts";
import { endsOf, HEAD_CHARS, joinedEnds, SHOWN_CHARS } from "./shown-output.ts";
import { TerminalText } from "./terminal-text.ts";

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

  #join(): void {
    const joined = this.#pieces.join("");
    const from = joined.length - this.#limit;
    // Neither half of a pair is kept alone.
    const text = from > 0 ? joined.slice(/[\uDC00-\uDFFF]/.test(joined.charAt(from)) ? from + 1 : from) : joined;
    this.#pieces = [text];
    this.#length = text.length;
  }
}

/** What was added since it was last asked for: all of it, or its beginning and its end. */
class NewText {
  readonly #limit: number;
  #head = "";
  #tail: TailText;

  constructor(limit: number) {
    this.#limit = limit;
    this.#tail = new TailText(limit);
  }

  add(text: string): void {
    if (this.#head.length < HEAD_CHARS) this.#head += text.slice(0, HEAD_CHARS - this.#head.length);
    this.#tail.add(text);
  }

  take(where: string): string {
    const [head, tail] = [this.#head, this.#tail];
    [this.#head, this.#tail] = ["", new TailText(this.#limit)];
    return tail.truncated ? joinedEnds(endsOf(head, tail.text(), tail.total, this.#limit), where) : tail.text();
  }
}

export interface OutputLimits {
  /** Characters kept of everything. */
  readonly kept: number;
  /** Characters kept of each stream until they are asked for. */
  readonly pending: number;
  /** Whether all of a long output is written to a file. Default true. */
  readonly savesAll?: boolean;
}

export const OUTPUT_LIMITS: OutputLimits = { kept: 200_000, pending: SHOWN_CHARS };
const TAIL_CHARS = 2000;
/** More than so many characters, and this share of all, that belong to no text make an output a binary one. */
const LEAST_ODD = 32;
const MOST_ODD = 0.1;

/** What a command wrote: readable, and bounded while it is being written. */
export class CommandOutput {
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  readonly #all: TailText;
  readonly #pending: { readonly stdout: NewText; readonly stderr: NewText };
  readonly #readers: { readonly stdout: TerminalText; readonly stderr: TerminalText };
  #head = "";
  /** Characters that came, and those of them that are none of a text. */
  #seen = 0;
  #odd = 0;
  #file: OutputFile | undefined;
  #savesAll: boolean;
  readonly #secrets: { readonly stdout: SecretStream; readonly stderr: SecretStream } | undefined;

  /** `terminal` is given when the standard output is one; `secrets` makes what masks a stream before any of it is kept. */
  constructor({ kept, pending, savesAll = true }: OutputLimits = OUTPUT_LIMITS, terminal?: TerminalText, secrets?: () => SecretStream) {
    this.#savesAll = savesAll;
    this.#readers = { stdout: terminal ?? new TerminalText(), stderr: new TerminalText() };
    this.#secrets = secrets && { stdout: secrets(), stderr: secrets() };
    this.#all = new TailText(kept);
    this.#pending = { stdout: new NewText(pending), stderr: new NewText(pending) };
  }

  /** A promise when the disk cannot keep up: nothing more is to be added until it resolves. */
  add(stream: "stdout" | "stderr", chunk: Buffer): Promise<void> | undefined {
    return this.#keep(stream, this.#readers[stream].write(this.#decoders[stream].write(chunk)));
  }

  /** Half characters at the very end become visible. */
  end(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      void this.#keep(stream, this.#readers[stream].write(this.#decoders[stream].end()) + this.#readers[stream].end());
      void this.#add(stream, this.#secrets?.[stream].end() ?? "");
    }
  }

  get total(): number {
    return this.#all.total;
  }

  get truncated(): boolean {
    return this.#all.truncated;
  }

  /** More than is shown at once. */
  get isLong(): boolean {
    return this.#all.total > SHOWN_CHARS;
  }

  /** All of it that is on disk, and whether that is all; undefined when it was not long, or the disk did not take it. */
  async whole(): Promise<{ readonly content: Buffer; readonly complete: boolean } | undefined> {
    const content = await this.#file?.content();
    return content && { content, complete: this.#file?.full === false };
  }

  /** Frees what is on disk. Output that comes later opens no file again. */
  async release(): Promise<void> {
    this.#savesAll = false;
    const file = this.#file;
    this.#file = undefined;
    await file?.[Symbol.asyncDispose]();
  }

  /** What is shown of it: everything, or the beginning and the end. `where` says where the rest is. */
  shown(where = ""): string {
    if (this.#odd > LEAST_ODD && this.#odd > this.#seen * MOST_ODD)
      return `[binary output, not shown: about ${formatBytes(this.#seen)}. Write it to a file, or use a program that describes it (file, xxd, strings).]`;
    if (!this.isLong) return this.#all.text();
    return joinedEnds(endsOf(this.#head, this.#all.text(), this.#all.total), where);
  }

  aggregated(): string {
    return this.#all.text();
  }

  tail(): string {
    return this.#all.text().slice(-TAIL_CHARS);
  }

  /** What came since the last time, of each stream: all of it, or its beginning and its end. `where` says where the rest is. */
  drain(where = ""): string {
    const parts = [this.#pending.stdout.take(where), this.#pending.stderr.take(where)].filter((part) => part !== "");
    return parts.map((part, index) => (index < parts.length - 1 && !part.endsWith("\n") ? `${part}\n` : part)).join("");
  }

  #keep(stream: "stdout" | "stderr", text: string): Promise<void> | undefined {
    const clean = text.replace(UNSEEN, "");
    this.#seen += text.length;
    this.#odd += text.length - clean.length + (clean.match(/\uFFFD/g)?.length ?? 0);
    return clean === "" ? undefined : this.#add(stream, this.#secrets ? this.#secrets[stream].push(clean) : clean);
  }

  #add(stream: "stdout" | "stderr", text: string): Promise<void> | undefined {
    if (text === "") return undefined;
    if (this.#head.length < HEAD_CHARS) this.#head += text.slice(0, HEAD_CHARS - this.#head.length);
    this.#all.add(text);
    this.#pending[stream].add(text);
    if (this.#file) return this.#file.add(text);
    if (!this.isLong || !this.#savesAll || this.#all.truncated) return undefined;
    this.#file = createOutputFile();
    return this.#file.add(this.#all.text());
  }
}
