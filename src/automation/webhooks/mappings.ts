/** Mappings: which requests they take, and the texts that they make of them. */
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import type { OpenClawConfig, SecretInput } from "../../config/index.ts";
import type { SignedPreset } from "./signature.ts";

type Written = NonNullable<NonNullable<OpenClawConfig["hooks"]>["mappings"]>[number];

/** A mapping as it is written, with what its preset adds. */
export interface Mapping extends Omit<Written, "match" | "preset" | "secret"> {
  /** Shown where something is wrong with it: its id, or where it stands. */
  readonly label: string;
  readonly path?: string;
  readonly source?: string;
  /** Its requests are signed: without a fitting signature they are refused. */
  readonly signed?: { readonly preset: SignedPreset; readonly secret: SecretInput | undefined; readonly secretAt: string };
}

const GMAIL: Mapping = {
  label: "gmail",
  path: "gmail",
  name: "Gmail",
  sessionKey: "hook:gmail:{{messages[0].id}}",
  messageTemplate: "Mail from {{messages[0].from}}\nSubject: {{messages[0].subject}}\n{{messages[0].snippet}}\n{{messages[0].body}}",
};

const SIGNED: Readonly<Record<SignedPreset, Pick<Written, "name" | "sessionKey" | "messageTemplate">>> = {
  github: {
    name: "GitHub",
    sessionKey: "hook:github:{{headers.x-github-delivery}}",
    messageTemplate: "GitHub event {{headers.x-github-event}} {{action}} in {{repository.full_name}} by {{sender.login}}\n\n{{payload}}",
  },
  stripe: { name: "Stripe", sessionKey: "hook:stripe:{{id}}", messageTemplate: "Stripe event {{type}}\n\n{{payload}}" },
  // Events have an id of their own; commands and buttons have the one of what was pressed.
  slack: { name: "Slack", sessionKey: "hook:slack:{{event_id}}{{trigger_id}}", messageTemplate: "Slack {{type}} {{event.type}}{{command}}\n\n{{payload}}" },
};

/** A path without the slashes around it. */
export const trimmedPath = (path: string): string => path.trim().replace(/^\/+|\/+$/g, "");

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value.trim() !== "" ? value.trim() : undefined);

function mappingOf({ match, preset, secret, ...rest }: Written, index: number): Mapping {
  const path = textOf(match?.path);
  const source = textOf(match?.source);
  const matched = { ...(path === undefined ? {} : { path: trimmedPath(path) }), ...(source === undefined ? {} : { source }) };
  const about = { label: rest.id ?? `hooks.mappings[${index}]`, ...(preset === undefined ? {} : { path: preset, ...SIGNED[preset] }) };
  const signed = preset === undefined ? {} : { signed: { preset, secret, secretAt: `hooks.mappings[${index}].secret` } };
  return { ...about, ...rest, ...matched, ...signed };
}

/** Every mapping in the order in which they are tried: those of the configuration, then presets. */
export function mappingsOf({ hooks }: OpenClawConfig): readonly Mapping[] {
  const isGmail = (hooks?.presets ?? []).some((preset) => preset.trim().toLowerCase() === "gmail");
  const unsafe = hooks?.gmail?.allowUnsafeExternalContent;
  const gmail = { ...GMAIL, ...(unsafe === undefined ? {} : { allowUnsafeExternalContent: unsafe }) };
  return [...(hooks?.mappings ?? []).map(mappingOf), ...(isGmail ? [gmail] : [])];
}

/** Whether a mapping takes a request; one that names neither path nor source takes all. */
export function takes({ path, source }: Mapping, asked: string, payload: Readonly<Record<string, unknown>>): boolean {
  return (path === undefined || path === asked) && (source === undefined || source === payload["source"]);
}

/** What templates can name. */
export interface TemplateValues {
  readonly path: string;
  /** ISO. */
  readonly now: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

const SLOT = /\{\{\s*([^{}]{1,300}?)\s*\}\}/g;
const MAX_TEXT = 500_000;

/** Follows `a.b[0].c` through own properties. */
function follow(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.replaceAll(/\[(\d{1,9})\]/g, ".$1").split(".")) {
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isRecord(found) && Object.hasOwn(found, key)) found = found[key];
    else return undefined;
  }
  return found;
}

function valueOf(path: string, values: TemplateValues): unknown {
  if (path === "path" || path === "now" || path === "payload") return values[path];
  for (const group of ["headers", "query", "payload"] as const) {
    if (!path.startsWith(`${group}.`)) continue;
    const rest = path.slice(group.length + 1);
    // Names of headers and parameters may hold dots and brackets.
    return group === "payload" ? follow(values.payload, rest) : values[group][group === "headers" ? rest.toLowerCase() : rest];
  }
  return follow(values.payload, path);
}

/** Fills a template: what is missing is empty, objects become JSON. */
export function fill(template: string, values: TemplateValues): string {
  const text = template.replaceAll(SLOT, (_, path: string) => {
    const value = valueOf(path, values);
    if (value === undefined || value === null) return "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  return clip(text, MAX_TEXT);
}
