import { clip } from "../../base/text.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import type { PathItem } from "../../sessions/index.ts";
import { callsOf, plain, textOf } from "./conversation.ts";

/** Headings of a summary, as a model is asked for them. */
export const HEADINGS = ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context"] as const;
const PARTS = ["Done", "In Progress", "Blocked"] as const;
type Heading = Exclude<(typeof HEADINGS)[number], "Progress"> | (typeof PARTS)[number];
type Draft = Map<Heading, string[]>;

/** The first line of a summary that no model wrote. */
export const BY_RULE = "(Put together by rule from the transcript: no model could write this summary.)";

const LINE_CHARS = 240;
/** Share of the characters for each heading; what one leaves is not given to others, so that none can crowd out the rest. */
const SHARES: Readonly<Record<Heading, number>> = {
  Goal: 0.22,
  "Constraints & Preferences": 0.08,
  Done: 0.26,
  "In Progress": 0.08,
  Blocked: 0.12,
  "Key Decisions": 0.06,
  "Next Steps": 0.08,
  "Critical Context": 0.08,
};

/** More of a text is not looked at, and no more items of a heading are held. */
const LOOKED_AT_CHARS = 2_000;
const MAX_ITEMS = 200;

const line = (text: string): string => clip(plain(text.slice(0, LOOKED_AT_CHARS).toWellFormed()).replaceAll(/\s+/g, " ").trim(), LINE_CHARS);
const firstSentence = (text: string): string =>
  line(
    text
      .slice(0, LOOKED_AT_CHARS)
      .split(/(?<=[.!?])\s|\n/)
      .find((part) => part.trim() !== "") ?? "",
  );

/** The bullets of an earlier summary by heading; text without headings becomes context. */
function draftOf(previous: string): Draft {
  const draft: Draft = new Map();
  const headings: readonly Heading[] = [...HEADINGS.filter((heading) => heading !== "Progress"), ...PARTS];
  let at: Heading = "Critical Context";
  for (const raw of previous.split("\n")) {
    const title = /^#{1,4}\s+(.+?)\s*$/.exec(raw)?.[1];
    at = headings.find((heading) => heading === title) ?? at;
    const item = line(raw.replace(/^\s*(?:[-*]|\d{1,3}\.)\s+(?:\[[ x]\]\s+)?/, ""));
    if (title === undefined && item !== "" && item !== "(none)" && item !== line(BY_RULE)) add(draft, at, item);
  }
  // What was open then is open now only if the messages since say so.
  draft.delete("In Progress");
  draft.delete("Next Steps");
  return draft;
}

function add(draft: Draft, heading: Heading, text: string): void {
  if (text === "") return;
  const items = draft.get(heading);
  if (!items) draft.set(heading, [text]);
  else if (!items.includes(text)) items.push(text);
  // The first one stays: it is what it was all about.
  if (items && items.length > MAX_ITEMS) items.splice(1, 1);
}

function note(draft: Draft, message: ModelMessage, tools: Map<string, number>): void {
  const text = textOf(message);
  if (message.role === "user") {
    add(draft, "Goal", line(text));
    draft.set(
      "In Progress",
      [line(text)].filter((open) => open !== ""),
    );
  } else if (message.role === "assistant") {
    const calls = callsOf(message);
    for (const { name } of calls) tools.set(name, (tools.get(name) ?? 0) + 1);
    if (text.trim() !== "") add(draft, "Done", firstSentence(text));
    if (calls.length === 0 && text.trim() !== "") draft.delete("In Progress");
  } else if (message.isError) add(draft, "Blocked", `${message.toolName}: ${firstSentence(text)}`);
}

/** Of what was asked first and last; of the rest the latest. */
function bounded(items: readonly string[], chars: number, heading: Heading): readonly string[] {
  const fits = (list: readonly string[]): readonly string[] => {
    let left = chars;
    const out: string[] = [];
    for (const item of list)
      if ((left -= item.length + 8) >= 0) out.push(item);
      else break;
    return out;
  };
  const [first, ...rest] = items;
  const latest = (list: readonly string[]): readonly string[] => fits(list.toReversed()).toReversed();
  if (heading !== "Goal" || first === undefined) return latest(items);
  const others = fits([first, ...rest.toReversed()]);
  return [...others.slice(0, 1), ...others.slice(1).toReversed()];
}

/** What was asked, done and tried, what failed and what is open, picked from the messages themselves. At most about `maxChars`. */
export function summaryByRule(items: readonly PathItem[], previous: string | undefined, maxChars: number): string {
  const draft = draftOf(previous ?? "");
  const tools = new Map<string, number>();
  for (const { message } of items) if (message) note(draft, message, tools);
  for (const open of draft.get("In Progress") ?? []) add(draft, "Next Steps", `answer: ${open}`);
  if (tools.size > 0)
    add(
      draft,
      "Critical Context",
      `tools used: ${[...tools]
        .slice(0, 12)
        .map(([name, count]) => `${name} ×${count}`)
        .join(", ")}`,
    );
  const marks: Partial<Record<Heading, string>> = { Done: "[x] ", "In Progress": "[ ] " };
  const section = (heading: Heading, level: string): string => {
    const own = bounded(draft.get(heading) ?? [], Math.floor(maxChars * SHARES[heading]), heading);
    return `${level} ${heading}\n${own.length === 0 ? "- (none)" : own.map((item) => `- ${marks[heading] ?? ""}${item}`).join("\n")}`;
  };
  const body = HEADINGS.map((heading) =>
    heading === "Progress" ? `## Progress\n${PARTS.map((part) => section(part, "###")).join("\n\n")}` : section(heading, "##"),
  );
  return `${BY_RULE}\n\n${body.join("\n\n")}`;
}
