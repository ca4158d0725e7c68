import type { Redactor } from "../../base/redaction.ts";
import { clip } from "../../base/text.ts";

type Redacting = Pick<Redactor, "text" | "value">;
type Fields = Readonly<Record<string, unknown>>;

/** The arguments of a tool call, for display. */
export interface Asked {
  /** On one line. */
  readonly line: string;
  /** With secrets masked and long texts cut; a plain text when that is still too much. */
  readonly arguments: unknown;
}

/** The result of a tool call, for display. */
export interface Gave {
  /** The beginning, with secrets masked. */
  readonly text: string;
  /** Length of the whole result, in characters. */
  readonly chars: number;
  /** Whether `text` is not all of it. */
  readonly cut: boolean;
  readonly pictures?: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly status?: string;
  /** Where all of it stands in the conversation: for `chat.entry`. */
  readonly seq?: number;
}

/** Fields that say in one line what a call is about, the most telling first. */
const TELLING = ["command", "path", "file_path", "url", "query", "pattern", "action", "sessionKey", "to", "message", "prompt", "task", "name", "id"];
const LINE_CHARS = 160;
const TEXT_CHARS = 2000;
const MOST_ITEMS = 50;
const MOST_CHARS = 8000;
/** A secret is masked before a text is cut, but nobody looks through megabytes for one. */
const LOOKED_AT = 64_000;

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});

const cutText = (text: string, most: number): string => (text.length <= most ? text : `${clip(text, most)} (${text.length.toLocaleString("en")} characters)`);

/** A copy with every text cut to so many characters, and lists to so many items. */
function shortened(value: unknown, chars: number): unknown {
  if (typeof value === "string") return cutText(value, chars);
  if (Array.isArray(value)) {
    const rest = value.length - MOST_ITEMS;
    return [...value.slice(0, MOST_ITEMS).map((item) => shortened(item, chars)), ...(rest > 0 ? [`… ${rest} more`] : [])];
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item, chars)]));
}

const oneLine = (text: string): string => clip(text.replaceAll(/\s+/g, " ").trim(), LINE_CHARS);

function lineOf(args: unknown): string {
  if (typeof args === "string") return oneLine(args);
  const fields = fieldsOf(args);
  const value = TELLING.map((name) => fields[name]).find((one) => typeof one === "string" && one.trim() !== "");
  if (typeof value === "string") return oneLine(value);
  const plain = Object.entries(fields).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return oneLine(plain.map(([name, value]) => `${name}: ${String(value)}`).join(", "));
}

/** What a call asks for, without secrets and of bounded size. */
export function askedOf(args: unknown, redactor: Redacting): Asked {
  const safe = shortened(redactor.value(args ?? {}), TEXT_CHARS);
  const whole = JSON.stringify(safe, undefined, 2);
  return { line: lineOf(safe), arguments: whole.length > MOST_CHARS ? cutText(whole, MOST_CHARS) : safe };
}

/** The first part of what a tool gave. `seq`: where the message stands, when it can be asked for. */
export function gaveOf(message: Fields, text: string, redactor: Redacting, seq: number | undefined): Gave {
  const { exitCode, exitSignal, status } = fieldsOf(message["details"]);
  const blocks: readonly unknown[] = Array.isArray(message["content"]) ? message["content"] : [];
  const pictures = blocks.filter((block) => fieldsOf(block)["type"] === "image").length;
  const safe = redactor.text(text.slice(0, LOOKED_AT));
  return {
    text: safe.length > TEXT_CHARS ? clip(safe, TEXT_CHARS) : safe,
    chars: text.length,
    cut: safe.length > TEXT_CHARS,
    ...(pictures === 0 ? {} : { pictures }),
    ...(typeof exitCode === "number" ? { exitCode } : {}),
    ...(typeof exitSignal === "string" ? { signal: exitSignal } : {}),
    ...(typeof status === "string" ? { status } : {}),
    ...(seq === undefined ? {} : { seq }),
  };
}
