import { splitSystemLines } from "../../../base/message-text.ts";
import { isRecord } from "../../../base/records.ts";
import type { EntryRow, SessionRow } from "../../../store/index.ts";
import { entryOf, messageOfRow, withoutEnvelope, type Message } from "../sessions/transcripts.ts";

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

function contentMarkdown({ content, role }: Message): string {
  const blocks: readonly unknown[] = typeof content === "string" ? [content] : Array.isArray(content) ? content : [];
  const texts = blocks.map(blockMarkdown).filter((text) => text !== "");
  if (role === "user" && texts[0] !== undefined) {
    const { systemLines, text } = splitSystemLines(texts[0]);
    texts.splice(0, 1, ...systemLines.map((line) => `System: ${line}`.replaceAll(/^/gm, "> ")), ...(text === "" ? [] : [withoutEnvelope(text)]));
  }
  return texts.join("\n\n");
}

const SPEAKERS: Readonly<Record<string, string>> = { user: "User", assistant: "Assistant" };

function heading(who: string, timestamp: unknown): string {
  const at =
    typeof timestamp === "string" && !Number.isNaN(Date.parse(timestamp)) ? ` · ${new Date(timestamp).toISOString().replace("T", " ").slice(0, 19)} UTC` : "";
  return `## ${who}${at}`;
}

/** The first lines of an exported conversation. */
export function titleMarkdown({ key, entry }: SessionRow): string {
  const label = [entry["label"], entry["displayName"], entry["subject"]].find((name): name is string => typeof name === "string" && name.trim() !== "");
  return `# ${(label ?? key).replaceAll(/\s+/g, " ")}\n\nSession \`${key}\`, \`${entry.sessionId}\`\n\n`;
}

/** An entry for people; nothing for bookkeeping. Results of tools stand in fences, so that what they hold is not read as Markdown. */
export function entryMarkdown(row: EntryRow): string {
  const entry = entryOf(row);
  if (!entry) return "";
  if (row.type === "compaction" || row.type === "branch_summary") {
    const { summary } = entry;
    return `${heading("Summary", entry.timestamp)}\n\n${typeof summary === "string" ? summary : ""}\n\n`;
  }
  const message = messageOfRow(row);
  if (!message) return "";
  const body = contentMarkdown(message);
  if (message.role === "toolResult" || message.role === "tool") {
    const name = typeof message["toolName"] === "string" ? `\`${message["toolName"]}\`` : "a tool";
    return `${heading(`Result of ${name}${message["isError"] === true ? " (failed)" : ""}`, entry.timestamp)}\n\n${fenced(body)}\n\n`;
  }
  const failed = typeof message["errorMessage"] === "string" ? `\n\n_Failed: ${message["errorMessage"]}_` : "";
  return `${heading(SPEAKERS[String(message.role)] ?? "Note", entry.timestamp)}\n\n${body}${failed}\n\n`;
}
