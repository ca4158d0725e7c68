import { isObject } from "../value.ts";
import type { JsonSchema, JsonSchemaNode } from "./json-schema.ts";

/** What a form shows for one key. */
export interface UiHint {
  readonly label: string;
  readonly help?: string;
  readonly sensitive?: boolean;
  readonly advanced?: boolean;
}

const ACRONYMS = [
  "AI",
  "API",
  "ARGS",
  "CA",
  "CDP",
  "CLI",
  "CPU",
  "DM",
  "DNS",
  "HTTP",
  "ID",
  "MCP",
  "MMR",
  "OTEL",
  "PDF",
  "QMD",
  "SSH",
  "SSRF",
  "TLS",
  "TTL",
  "TTS",
  "UI",
  "URL",
  "VNC",
];
const SPELLINGS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ACRONYMS.map((word) => [word.toLowerCase(), word])),
  args: "arguments",
  ids: "IDs",
  urls: "URLs",
  dms: "DMs",
  cpus: "CPUs",
  ms: "(ms)",
  mb: "(MB)",
  px: "(px)",
  mdns: "mDNS",
  openai: "OpenAI",
  elevenlabs: "ElevenLabs",
  whatsapp: "WhatsApp",
  imessage: "iMessage",
  msteams: "Microsoft Teams",
  gmail: "Gmail",
  env: "environment",
  fs: "files",
  exec: "commands",
};

/** `maxConcurrent` → `Max concurrent`, `baseUrl` → `Base URL`. */
export function labelOf(key: string): string {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_.-]+/g, " ")
    .trim()
    .split(/\s+/)
    .map((word) => SPELLINGS[word.toLowerCase()] ?? word.toLowerCase());
  const label = words.join(" ");
  // Names such as iMessage keep their first letter.
  return words[0] === undefined || /[A-Z]/.test(words[0]) ? label : label.charAt(0).toUpperCase() + label.slice(1);
}

const MAX_LEVELS = 24;

function* hintsOf(node: JsonSchemaNode | undefined, path: string, key: string, level: number): Generator<[string, UiHint]> {
  if (!isObject(node) || level > MAX_LEVELS) return;
  const schema = node;
  if (path !== "") {
    const hint = {
      label: typeof schema["title"] === "string" ? schema["title"] : labelOf(key),
      ...(schema.description === undefined ? {} : { help: schema.description }),
      ...(schema["x-sensitive"] ? { sensitive: true } : {}),
      ...(schema["x-advanced"] ? { advanced: true } : {}),
    };
    yield [path, hint];
  }
  const below = (name: string): string => (path === "" ? name : `${path}.${name}`);
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* hintsOf(child, below(name), name, level + 1);
  if (isObject(schema.additionalProperties)) yield* hintsOf(schema.additionalProperties, below("*"), key, level + 1);
  if (isObject(schema.items)) yield* hintsOf(schema.items, `${path}[]`, key, level + 1);
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]) {
    if (isObject(branch)) for (const [name, child] of Object.entries(branch.properties ?? {})) yield* hintsOf(child, below(name), name, level + 1);
  }
}

/** Labels and help for every key of a schema. In the paths `*` stands for any key of a map and `[]` for any entry of a list. */
export function uiHints(schema: JsonSchema): Record<string, UiHint> {
  const hints: Record<string, UiHint> = {};
  for (const [path, hint] of hintsOf(schema, "", "", 0)) hints[path] ??= hint;
  return hints;
}
