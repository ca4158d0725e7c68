/** Texts, numbers and small things around them. */
import { stripVTControlCharacters } from "node:util";
import { createRedactor } from "../../base/redaction.ts";

export function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}

export function escapeRegExp(value: string): string {
  return value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** Waits; the timer keeps the process alive. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

/** The value that a text stands for, or `null`. */
// What the text holds is the caller's claim, as it always was in published code.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function safeParseJson<T = unknown>(raw: string): T | null {
  try {
    return JSON.parse(raw) as T;
  } catch {
    return null;
  }
}

/** A phone number with its plus: `whatsapp:+1 (555) 010` → `+1555010`. */
export function normalizeE164(number: string): string {
  return `+${number.replace(/^whatsapp:/, "").replaceAll(/\D/g, "")}`;
}

/** Text without colours and other control sequences of a terminal. */
export function stripAnsi(text: string): string {
  return stripVTControlCharacters(text);
}

/** Text without the signs of Markdown. */
export function stripMarkdown(text: string): string {
  return text
    .replaceAll(/^#{1,6}\s+/gm, "")
    .replaceAll(/^>\s?/gm, "")
    .replaceAll(/^(?:-{3,}|\*{3,}|_{3,})$/gm, "")
    .replaceAll(/\*\*(.+?)\*\*|__(.+?)__|~~(.+?)~~/g, (_, ...groups: (string | undefined)[]) => groups.slice(0, 3).find((group) => group !== undefined) ?? "")
    .replaceAll(/(?<!\*)\*(?!\*)(.+?)(?<!\*)\*(?!\*)/g, "$1")
    .replaceAll(/(?<![_\w])_(?!_)(.+?)(?<!_)_(?![_\w])/g, "$1")
    .replaceAll(/`([^`]+)`/g, "$1")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** Pieces of at most `limit` characters: cut at the last line break, else the last blank, else hard. */
export function chunkTextForOutbound(text: string, limit: number): string[] {
  if (!text) return [];
  if (limit <= 0 || text.length <= limit) return [text];
  const chunks: string[] = [];
  let rest = text;
  while (rest.length > limit) {
    const window = rest.slice(0, limit);
    const line = window.lastIndexOf("\n");
    const at = line > 0 ? line : window.lastIndexOf(" ");
    const end = at > 0 ? at : limit;
    const chunk = rest.slice(0, end).trimEnd();
    if (chunk) chunks.push(chunk);
    rest = rest.slice(end === at ? end + 1 : end).trimStart();
  }
  return rest ? [...chunks, rest] : chunks;
}

/** What was thrown as a line for people, secrets masked. */
export function formatErrorMessage(error: unknown): string {
  return redactSensitiveText(plainMessage(error));
}

/** The text with everything that looks like a secret masked. */
export function redactSensitiveText(text: string): string {
  return createRedactor().text(text);
}

function plainMessage(error: unknown): string {
  if (error instanceof Error) return error.message || error.name || "Error";
  if (typeof error === "string") return error;
  try {
    return JSON.stringify(error) ?? String(error);
  } catch {
    return Object.prototype.toString.call(error);
  }
}

const TRUE_WORDS: ReadonlySet<string> = new Set(["1", "true", "yes", "on"]);

/** Whether the value of a variable means yes. */
export function isTruthyEnvValue(value?: string | null): boolean {
  return TRUE_WORDS.has((value ?? "").trim().toLowerCase());
}

/** A WebSocket message as text. */
export function rawDataToString(data: string | Buffer | ArrayBuffer | Buffer[], encoding: BufferEncoding = "utf8"): string {
  if (typeof data === "string") return data;
  if (Array.isArray(data)) return Buffer.concat(data).toString(encoding);
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString(encoding);
}

/** What an agent answers when nothing is to be said. */
export const SILENT_REPLY_TOKEN = "NO_REPLY";

/** Whether a reply begins or ends with the token, as a word of its own. */
export function isSilentReplyText(text: string | undefined, token: string = SILENT_REPLY_TOKEN): boolean {
  if (!text) return false;
  const word = escapeRegExp(token);
  return new RegExp(String.raw`^\s*${word}(?!\w)|(?<!\w)${word}\W*$`).test(text);
}

const DOCS_ROOT = "https://docs.openclaw.ai";

/** A page of the documentation, as a link where the terminal shows links. */
export function formatDocsLink(path: string, label?: string, options: { fallback?: string | undefined; force?: boolean | undefined } = {}): string {
  const place = path.trim();
  const url = place.startsWith("http") ? place : `${DOCS_ROOT}/${place.replace(/^\//, "")}`;
  const linked = options.force ?? process.stdout.isTTY;
  if (!linked) return options.fallback ?? url;
  const clean = (text: string) => text.replaceAll("\u001B", "");
  return `\u001B]8;;${clean(url)}\u0007${clean(label ?? url)}\u001B]8;;\u0007`;
}

/** Nobody to send to. */
export function missingTargetError(provider: string, hint?: string): Error {
  return new Error(`${provider} needs a target to deliver to${hint ? `: ${hint}` : ""}`);
}

type Line = (message: string) => void;

const about = (target: string | undefined) => (target ? ` target=${target}` : "");

export function logInboundDrop(params: { log: Line; channel: string; reason: string; target?: string | undefined }): void {
  params.log(`${params.channel}: drop ${params.reason}${about(params.target)}`);
}

export function logTypingFailure(params: {
  log: Line;
  channel: string;
  target?: string | undefined;
  action?: "start" | "stop" | undefined;
  error: unknown;
}): void {
  const action = params.action ? ` action=${params.action}` : "";
  params.log(`${params.channel} typing${action} failed${about(params.target)}: ${String(params.error)}`);
}

export function logAckFailure(params: { log: Line; channel: string; target?: string | undefined; error: unknown }): void {
  params.log(`${params.channel} ack cleanup failed${about(params.target)}: ${String(params.error)}`);
}
