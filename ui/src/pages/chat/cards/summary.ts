import { fieldsOf, textOf } from "../model/said.ts";

/** Fields of arguments that say in one line what a call is about, the most telling first. */
const TELLING = ["command", "path", "file_path", "url", "query", "pattern", "action", "sessionKey", "to", "message", "prompt", "task", "name", "id"];
const LONGEST = 160;

const oneLine = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST)}…` : flat;
};

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

/** Files that a patch touches. */
function patchedFiles(patch: string): string {
  const files = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((match) => match[1]!);
  return files.length === 0 ? patch : files.join(", ");
}

/** What a call is about, in one line. */
export function summaryOf(name: string, args: unknown): string {
  if (typeof args === "string") return oneLine(args);
  const fields = fieldsOf(args);
  if (name === "web_fetch") return oneLine(hostOf(textOf(fields["url"])));
  if (name === "apply_patch") return oneLine(patchedFiles(textOf(fields["input"]) || textOf(fields["patch"])));
  const telling = TELLING.map((field) => textOf(fields[field])).find((text) => text.trim() !== "");
  if (telling !== undefined) return oneLine(telling);
  const rest = Object.entries(fields).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return oneLine(rest.map(([field, value]) => `${field}: ${String(value)}`).join(", "));
}
