import { ownText, splitSystemLines } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import type { EntryRow, SessionRow } from "../../../store/index.ts";
import { entryOf, messageOfRow, type Message } from "../sessions/transcripts.ts";

/** A fence that what it holds cannot end. */
function fenced(text: string, language = ""): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2) ?? "";

function blockMarkdown(block: unknown): string {
  if (typeof block === "string") return block;
  const { type, text, thinking, name, arguments: args, mimeType } = isRecord(block) ? block : {};
  if (type === "text" && typeof text === "string") return text;
  if (type === "thinking" && typeof thinking === "string") return thinking.replaceAll(/^/gm, "> ");
  if (type === "toolCall") return `Calls \`${String(name)}\`:\n\n${fenced(json(args), "json")}`;
  return type === "image" ? `_(picture, ${String(mimeType)})_` : "";
}

function contentMarkdown(message: Message): string {
  const { content, role } = message;
  const blocks: readonly unknown[] = typeof content === "string" ? [content] : Array.isArray(content) ? content : [];
  const texts = blocks.map(blockMarkdown).filter((text) => text !== "");
  if (role === "user" && texts[0] !== undefined) {
    const { systemLines, text } = splitSystemLines(texts[0]);
    texts.splice(0, 1, ...systemLines.map((line) => `System: ${line}`.replaceAll(/^/gm, "> ")), ...(text === "" ? [] : [ownText(text, message)]));
  }
  return texts.join("\n\n");
}

const SPEAKERS: Readonly<Record<string, string>> = { user: "User", assistant: "Assistant" };

/** When it was said, behind who said it; nothing when that is unknown. */
const timeOf = (timestamp: unknown): string =>
  typeof timestamp === "string" && !Number.isNaN(Date.parse(timestamp)) ? ` · ${new Date(timestamp).toISOString().replace("T", " ").slice(0, 19)} UTC` : "";

/** What an exported conversation is called. */
export function sessionTitle({ key, entry }: SessionRow): string {
  const names = [entry["label"], entry["displayName"], entry["subject"], entry["title"]];
  return (names.find((name): name is string => typeof name === "string" && name.trim() !== "") ?? key).replaceAll(/\s+/g, " ");
}

/** The first lines of an exported conversation. */
export function titleMarkdown(session: SessionRow): string {
  const { key, entry } = session;
  return `# ${sessionTitle(session)}\n\nSession \`${key}\`, \`${entry.sessionId}\`\n\n`;
}

/** What people see of an entry. */
interface EntryParts {
  readonly kind: "user" | "assistant" | "tool" | "note";
  /** Who says it, and when. */
  readonly heading: string;
  readonly body: string;
  /** Why the answer failed. */
  readonly failure?: string;
}

/** An entry for people; undefined for bookkeeping. `code` marks the names of tools. */
export function entryParts(row: EntryRow, code = (name: string): string => name): EntryParts | undefined {
  const entry = entryOf(row);
  if (!entry) return undefined;
  const headed = (who: string): string => `${who}${timeOf(entry.timestamp)}`;
  if (row.type === "compaction" || row.type === "branch_summary") {
    const { summary } = entry;
    return { kind: "note", heading: headed("Summary"), body: typeof summary === "string" ? summary : "" };
  }
  const message = messageOfRow(row);
  if (!message) return undefined;
  const body = contentMarkdown(message);
  if (message.role === "toolResult" || message.role === "tool") {
    const name = typeof message["toolName"] === "string" ? code(message["toolName"]) : "a tool";
    return { kind: "tool", heading: headed(`Result of ${name}${message["isError"] === true ? " (failed)" : ""}`), body };
  }
  const failure = message["errorMessage"];
  const kind = message.role === "user" || message.role === "assistant" ? message.role : "note";
  return { kind, heading: headed(SPEAKERS[String(message.role)] ?? "Note"), body, ...(typeof failure === "string" ? { failure } : {}) };
}

/** An entry for people; nothing for bookkeeping. Results of tools stand in fences, so that what they hold is not read as Markdown. */
export function entryMarkdown(row: EntryRow): string {
  const parts = entryParts(row, (name) => `\`${name}\``);
  if (!parts) return "";
  const { kind, heading, body, failure } = parts;
  return `## ${heading}\n\n${kind === "tool" ? fenced(body) : body}${failure === undefined ? "" : `\n\n_Failed: ${failure}_`}\n\n`;
}
