import { isRecord } from "../base/records.ts";

const MAX_DEPTH = 6;

/** Models wrap texts: `{text}`, `{content}`, `{parts}`, lists of these. Undefined when it is no text at all. */
export function flatText(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => flatText(item, depth + 1) ?? "").join("");
  if (!isRecord(value)) return undefined;
  const { text, content, parts } = value;
  return flatText(text ?? content ?? parts ?? null, depth + 1);
}

/** True for a text that is wrapped in an object, or in a list of them. A list of plain texts may mean something else. */
export function isWrappedText(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item) => typeof item === "object" && isWrappedText(item));
  return typeof value === "object" && value !== null && ["text", "content", "parts"].some((key) => key in value) && flatText(value) !== undefined;
}
