import { clip } from "../../base/text.ts";
import type { ModelMessage } from "../../protocol/index.ts";

/** One message of the conversation to summarize. */
export interface Utterance {
  readonly kind: "user" | "assistant" | "calls" | "result";
  readonly text: string;
}

const LABELS: readonly (readonly [label: string, kind: Utterance["kind"] | "other"])[] = [
  ["[User]: ", "user"],
  ["[Assistant thinking]: ", "other"],
  ["[Assistant]: ", "assistant"],
  ["[Assistant tool calls]: ", "calls"],
  ["[Tool result]: ", "result"],
];
const SECTIONS = ["Goal", "Constraints & Preferences", "Progress", "Key Decisions", "Next Steps", "Critical Context"] as const;
const PARTS = ["Done", "In Progress", "Blocked"] as const;
type Heading = Exclude<(typeof SECTIONS)[number], "Progress"> | (typeof PARTS)[number];
const HEADINGS: readonly Heading[] = [...SECTIONS.filter((section) => section !== "Progress"), ...PARTS];

const MAX_ITEMS = 12;
const MAX_ITEM_CHARS = 300;

/** True when a prompt asks for a compaction summary. */
export function asksForSummary(prompt: string): boolean {
  return prompt.includes("<conversation>") && prompt.includes("</conversation>");
}

/** An extractive summary of a conversation: goals, wishes, what was done, what failed, what is open. */
export function summarizePrompt(prompt: string): string {
  const utterances = parseConversation(between(prompt, "<conversation>", "</conversation>") ?? "");
  return summarize(utterances, parseSummary(between(prompt, "<previous-summary>", "</previous-summary>") ?? ""));
}

export function summarize(utterances: readonly Utterance[], previous: ReadonlyMap<Heading, readonly string[]> = new Map()): string {
  const found = pick(utterances);
  const items = (heading: Heading): string[] => {
    // Open items are replaced by the current ones; the rest accumulates.
    const earlier = heading === "In Progress" || heading === "Next Steps" ? [] : (previous.get(heading) ?? []);
    const all = [...new Set([...earlier, ...(found.get(heading) ?? [])])];
    // The first goal is kept; of the others the latest count.
    const bounded = all.length <= MAX_ITEMS ? all : heading === "Goal" ? [...all.slice(0, 1), ...all.slice(1 - MAX_ITEMS)] : all.slice(-MAX_ITEMS);
    return bounded.length === 0 ? ["(none)"] : bounded;
  };
  const list = (heading: Heading, mark = "- "): string =>
    items(heading)
      .map((item) => `${item === "(none)" ? "- " : mark}${item}`)
      .join("\n");
  return SECTIONS.map((section) => {
    if (section !== "Progress") return `## ${section}\n${list(section)}`;
    return `## Progress\n${PARTS.map((part) => `### ${part}\n${list(part, part === "Done" ? "- [x] " : part === "In Progress" ? "- [ ] " : "- ")}`).join("\n\n")}`;
  }).join("\n\n");
}

/** A transcript as utterances. */
export function utterancesOf(messages: readonly ModelMessage[], textOf: (message: ModelMessage) => string): readonly Utterance[] {
  return messages.flatMap((message): Utterance[] => {
    const text = textOf(message);
    if (message.role === "toolResult") return [{ kind: "result", text: message.isError ? `error: ${text}` : text }];
    if (message.role === "user") return [{ kind: "user", text }];
    const calls = message.content.filter((part) => part.type === "toolCall").map(({ name, arguments: args }) => `${name}(${JSON.stringify(args)})`);
    return [
      ...(text === "" ? [] : [{ kind: "assistant" as const, text }]),
      ...(calls.length === 0 ? [] : [{ kind: "calls" as const, text: calls.join("; ") }]),
    ];
  });
}

function pick(utterances: readonly Utterance[]): Map<Heading, string[]> {
  const found = new Map<Heading, string[]>();
  const add = (heading: Heading, text: string): void => {
    const line = clip(text.replaceAll(/\s+/g, " ").trim(), MAX_ITEM_CHARS);
    if (line !== "") found.set(heading, [...(found.get(heading) ?? []), line]);
  };
  let open: string | undefined;
  for (const { kind, text } of utterances) {
    const sentences = text.slice(0, 20_000).split(/(?<=[.!?])\s+|\n+/);
    if (kind === "user") {
      open = text.slice(0, 2000);
      add("Goal", sentences[0] ?? "");
      for (const sentence of sentences)
        if (/\b(?:always|never|must|don't|do not|prefer|only|avoid|make sure|important)\b/i.test(sentence)) add("Constraints & Preferences", sentence);
    } else if (kind === "assistant") {
      open = undefined;
      add("Done", sentences[0] ?? "");
    } else if (kind === "calls") add("Done", `called ${text.slice(0, 2000)}`);
    else if (/^\s*(?:error\b|failed\b|.{0,80}\b(?:not found|permission denied|ENOENT|EACCES)\b)/i.test(text)) add("Blocked", sentences[0] ?? "");
    if (kind !== "result")
      for (const sentence of sentences) if (/\b(?:decided|let's use|we will use|we'll use|agreed|instead of)\b/i.test(sentence)) add("Key Decisions", sentence);
    if (kind === "user")
      for (const path of text.slice(0, 20_000).match(/(?:~|\.{0,2})?(?:\/[\w.@-]+){2,}|\b[\w-]+\.(?:md|ts|js|json|py|txt|toml|ya?ml)\b/g) ?? [])
        add("Critical Context", path);
  }
  if (open !== undefined) {
    add("In Progress", open);
    add("Next Steps", `answer: ${open}`);
  }
  return found;
}

function between(text: string, from: string, to: string): string | undefined {
  const start = text.indexOf(from);
  const end = text.lastIndexOf(to);
  return start === -1 || end <= start ? undefined : text.slice(start + from.length, end).trim();
}

function parseConversation(text: string): readonly Utterance[] {
  const utterances: Utterance[] = [];
  let kind: Utterance["kind"] | "other" = "other";
  let lines: string[] = [];
  const close = (): void => {
    if (kind !== "other" && lines.length > 0) utterances.push({ kind, text: lines.join("\n").trim() });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const label = LABELS.find(([label]) => line.startsWith(label.trimEnd()));
    if (label) {
      close();
      kind = label[1];
    }
    lines.push(label ? line.slice(label[0].trimEnd().length).trimStart() : line);
  }
  close();
  return utterances;
}

/** The bullets of an earlier summary, by heading. */
function parseSummary(text: string): ReadonlyMap<Heading, readonly string[]> {
  const found = new Map<Heading, string[]>();
  let heading: Heading | undefined;
  for (const line of text.split("\n")) {
    const title = /^#{2,3}\s+(.+?)\s*$/.exec(line)?.[1];
    if (title !== undefined) heading = HEADINGS.find((known) => known === title);
    const item = line.replace(/^\s*(?:[-*]|\d{1,3}\.)\s+(?:\[[ x]\]\s+)?/, "").trim();
    if (title === undefined && heading !== undefined && item !== "" && item !== "(none)")
      found.set(heading, [...(found.get(heading) ?? []), clip(item, MAX_ITEM_CHARS)]);
  }
  return found;
}
