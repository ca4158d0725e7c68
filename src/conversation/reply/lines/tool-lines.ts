/** What is shown of tools: one line when one starts, and what it answered. */
import { clip } from "../../../base/text.ts";
import { toolFacts, toolLabel } from "../../../tools/index.ts";

const OTHER = "🧩";

/** The argument that says most. First match decides. */
const TELLING = [
  "command",
  "cmd",
  "path",
  "file_path",
  "filePath",
  "url",
  "query",
  "pattern",
  "to",
  "target",
  "sessionKey",
  "agentId",
  "task",
  "prompt",
  "message",
  "name",
  "id",
];
const MAX_ARG = 120;
const MAX_OUTPUT = 2000;

const titleOf = (name: string): string => toolLabel(clip(name, 60)) || "Tool";
const iconOf = (name: string): string => toolFacts(name)?.icon ?? OTHER;

const oneLine = (text: string, most: number): string =>
  clip(
    text
      .slice(0, most * 4)
      .replaceAll(/[\s`]+/g, " ")
      .trim(),
    most,
  );

function tellingArg(args: unknown): string {
  if (typeof args === "string") return args;
  if (typeof args !== "object" || args === null) return "";
  const fields = args as Readonly<Record<string, unknown>>;
  const told = TELLING.map((key) => fields[key]).find(
    (value): value is string | number => (typeof value === "string" && value.trim() !== "") || typeof value === "number",
  );
  const { action } = fields;
  return [typeof action === "string" ? action : "", told === undefined ? "" : String(told)].filter((part) => part !== "").join(" ");
}

/** `<emoji> <Label>: <arg>`. */
export function toolLine(name: string, args: unknown, redact: (text: string) => string): string {
  const arg = oneLine(redact(tellingArg(args)), MAX_ARG);
  const head = `${iconOf(name)} ${titleOf(name)}`;
  return arg === "" ? head : `${head}: ${arg}`;
}

function textOf(result: unknown): string {
  const content = (result as { content?: unknown } | null | undefined)?.content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: unknown) => {
      const { type, text } = part as { type?: unknown; text?: unknown };
      return type === "text" && typeof text === "string" ? [text.slice(0, MAX_OUTPUT * 2)] : type === "image" ? ["(image)"] : [];
    })
    .join("\n");
}

/** What a tool answered, cut and fenced. Undefined when it said nothing. */
export function toolOutput(name: string, result: unknown, isError: boolean, redact: (text: string) => string): string | undefined {
  const text = redact(textOf(result)).trim();
  if (text === "") return undefined;
  const shown = text.length > MAX_OUTPUT ? `${clip(text, MAX_OUTPUT)}\n(cut)` : text;
  const longest = Math.max(2, ...(shown.match(/`{3,}/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${isError ? "❌" : iconOf(name)} ${titleOf(name)}\n${fence}\n${shown}\n${fence}`;
}
