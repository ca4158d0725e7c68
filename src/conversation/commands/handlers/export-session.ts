import { isRecord } from "../../../base/records.ts";
import { isAbsolute, resolve } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { isInside } from "../../../base/files.ts";
import { shownMessage } from "../../../base/message-text.ts";
import { createRootedFiles } from "../../../base/rooted-files.ts";
import type { Handler } from "../handling.ts";
import type { SessionTranscript } from "../ports.ts";

/** Writes the session to a page in the agent's workspace, and nowhere else. */
export const exportSession: Handler = async ({ ports, call, key, args }) => {
  const stored = await ports.session.transcript(key);
  if (!stored) return "Nothing to export yet: this session has no messages.";
  const transcript = { ...stored, entries: stored.entries.flatMap(shownEntry) };
  const workspace = resolve(await ports.workspace(call.agentId));
  const time = new Date(ports.clock.now()).toISOString().slice(0, 19).replaceAll(":", "-");
  const wanted = args === "" ? `openclaw-session-${transcript.sessionId.slice(0, 8)}-${time}.html` : args;
  const outside = `Sessions can only be exported to the workspace. Use a path below ${workspace}.`;
  const { home } = ports;
  const homely = home === undefined ? wanted : wanted.replace(/^~(?=\/)/, () => home);
  if (homely.startsWith("~") || homely.includes("\0")) return outside;
  const named = /\.html?$/i.test(homely) ? homely : `${homely}.html`;
  const path = isAbsolute(named) ? resolve(named) : resolve(workspace, named);
  if (!isInside(workspace, path)) return outside;
  try {
    await createRootedFiles({ root: workspace, unique: () => ports.ids.hex(4) }).write(path, ports.redact(page(transcript)));
  } catch (error) {
    if (error instanceof AppError && error.code === "PERMISSION_DENIED") return outside;
    throw error;
  }
  const { entries, systemPrompt = "", tools = [] } = transcript;
  return [`Written: ${path}`, `Entries: ${entries.length} · System prompt: ${systemPrompt.length} chars · Tools: ${tools.length}`].join("\n");
};

const SIGNS: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);

const STYLE =
  "body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem}article{border-left:3px solid #8884;margin:1rem 0;padding:0 1rem}" +
  "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.45 ui-monospace,monospace}h2{font-size:1rem;margin:.5rem 0;color:#666}";

/** No script, and nothing that a browser would fetch. */
function page({ sessionId, entries, systemPrompt, tools = [] }: SessionTranscript): string {
  const block = (title: string, text: string): string => `<article><h2>${escaped(title)}</h2><pre>${escaped(text)}</pre></article>`;
  const folded = (title: string, text: string): string => `<details><summary>${escaped(title)}</summary><pre>${escaped(text)}</pre></details>`;
  return [
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>Session ${escaped(sessionId)}</title><style>${STYLE}</style></head><body>`,
    `<h1>Session ${escaped(sessionId)}</h1>`,
    systemPrompt === undefined ? "" : folded("System prompt", systemPrompt),
    tools.length === 0 ? "" : folded(`Tools (${tools.length})`, tools.map(({ name, description }) => `${name}: ${description}`).join("\n")),
    ...entries.map((entry) => block([entry.timestamp, roleOf(entry)].filter(Boolean).join(" · "), textOf(entry))),
    "</body></html>",
    "",
  ].join("\n");
}

type Entry = SessionTranscript["entries"][number];

function messageOf({ message }: Entry): Readonly<Record<string, unknown>> | undefined {
  return isRecord(message) ? message : undefined;
}

/** An entry as the history shows it; none for an answer that plugins withheld. */
function shownEntry(entry: Entry): readonly Entry[] {
  const message = messageOf(entry);
  if (!message) return [entry];
  const shown = shownMessage(message);
  return shown ? [{ ...entry, message: shown }] : [];
}

function roleOf(entry: Entry): string {
  const role = messageOf(entry)?.["role"];
  return typeof role === "string" ? role : entry.type;
}

/** Texts as they are, everything else as JSON. */
function textOf(entry: Entry): string {
  const content = messageOf(entry)?.["content"];
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(entry, null, 2);
  return content.map(partText).join("\n");
}

function partText(part: unknown): string {
  if (!isRecord(part)) return JSON.stringify(part, null, 2);
  if (part["type"] === "text" && typeof part["text"] === "string") return part["text"];
  if (part["type"] === "image") return "[image]";
  return JSON.stringify(part, null, 2);
}
