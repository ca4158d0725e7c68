import { existsSync } from "node:fs";
import { join } from "node:path";
import { clip } from "../../base/text.ts";
import { isObject, type ValuePath } from "../../config/index.ts";
import type { PluginManifest } from "../record.ts";
import { readJsonFile, type JsonFile } from "./json-file.ts";
import { expandChannelConfigs } from "./channel-keys.ts";
import { ID_FORM, isPluginId } from "./plugin-id.ts";

const MANIFEST = "openclaw.plugin.json";
/** Another name that documents use. Programs of all kinds have such a file, so it counts only when it looks like ours. */
const OTHER_MANIFEST = "manifest.json";

/** Something wrong in a manifest, with its place. */
export interface ManifestIssue {
  readonly code: "manifest-missing" | "manifest-invalid" | "manifest-field";
  readonly message: string;
  readonly file: string;
  readonly line?: number;
}

export type ManifestRead =
  | { readonly manifest: PluginManifest; readonly file: string; readonly lineOf: JsonFile["lineOf"]; readonly remarks: readonly ManifestIssue[] }
  | { readonly issue: ManifestIssue };

export function hasManifest(folder: string): boolean {
  return existsSync(join(folder, MANIFEST));
}

/** Reads the manifest of the plugin in `folder`. What is wrong with it is the answer, never an exception. */
export function readManifest(folder: string): ManifestRead {
  const path = join(folder, MANIFEST);
  const read = readJsonFile(path);
  if ("file" in read) return checkManifest(read.file);
  const { problem } = read;
  if (!problem.missing) {
    const line = problem.line === undefined ? {} : { line: problem.line };
    return { issue: { code: "manifest-invalid", message: `the manifest cannot be read: ${problem.message}`, file: path, ...line } };
  }
  const other = readJsonFile(join(folder, OTHER_MANIFEST));
  if ("file" in other && isObject(other.file.value) && typeof other.file.value["id"] === "string" && isObject(other.file.value["configSchema"])) {
    return checkManifest(other.file);
  }
  return { issue: { code: "manifest-missing", message: `plugin manifest not found: ${path}; expected a file with "id" and "configSchema"`, file: path } };
}

function checkManifest(file: JsonFile): ManifestRead {
  const { value, path } = file;
  const invalid = (at: ValuePath, message: string): ManifestRead => {
    return { issue: { code: "manifest-invalid", message, file: path, line: file.lineOf(at) } };
  };
  if (!isObject(value)) return invalid([], `expected an object with "id" and "configSchema", found ${kindOf(value)}`);
  const id = typeof value["id"] === "string" ? value["id"].trim() : value["id"];
  if (typeof id !== "string") return invalid(["id"], `"id": expected a text, found ${kindOf(id)}`);
  if (!isPluginId(id)) return invalid(["id"], `"id": expected ${ID_FORM}, found ${JSON.stringify(clip(id, 80))}`);
  const { configSchema } = value;
  if (!isObject(configSchema)) {
    return invalid(
      ["configSchema"],
      `"configSchema": expected a JSON Schema object, found ${kindOf(configSchema)}; for no settings write {"type": "object", "properties": {}}`,
    );
  }
  const remarks: ManifestIssue[] = [];
  const refuse = (key: string, expected: string): void => {
    const message = `"${key}": expected ${expected}, found ${kindOf(value[key])}; it is not used`;
    remarks.push({ code: "manifest-field", message, file: path, line: file.lineOf([key]) });
  };
  const fields = checkFields(value, FIELDS, refuse);
  const unknown = Object.fromEntries(Object.entries(value).filter(([key]) => !KNOWN.has(key)));
  const channelConfigs = Object.hasOwn(unknown, "channelConfigs") ? { channelConfigs: expandChannelConfigs(unknown["channelConfigs"]) } : {};
  const rest = { ...unknown, ...channelConfigs, ...checkFields(value, OTHER_FIELDS, refuse) };
  return { manifest: { id, configSchema, ...fields, rest }, file: path, lineOf: file.lineOf, remarks };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isMap = (value: unknown): boolean => isObject(value) && Object.values(value).every(isObject);
const isLists = (value: unknown): boolean => isObject(value) && Object.values(value).every(isTexts);

/** Fields that may be left out: how each looks, and what is said of one that does not. */
const FIELDS: Readonly<Record<string, readonly [(value: unknown) => boolean, string]>> = {
  name: [isText, "a text"],
  description: [isText, "a text"],
  version: [isText, "a text"],
  kind: [(value) => isText(value) || isTexts(value), "a string or a list of strings"],
  channels: [isTexts, "a list of strings"],
  providers: [isTexts, "a list of strings"],
  skills: [isTexts, "a list of strings"],
  uiHints: [isMap, "an object of objects"],
  contracts: [isLists, "an object of lists of strings"],
};

const isCommand = (value: unknown): boolean => isObject(value) && isText(value["name"]);
const hasCommands = (value: unknown): boolean => isObject(value) && (value["onCommands"] === undefined || isTexts(value["onCommands"]));

/** The same for fields that are read where they are used, from `rest`. */
const OTHER_FIELDS: typeof FIELDS = {
  cliCommands: [(value) => Array.isArray(value) && value.every(isCommand), `a list of objects with a "name"`],
  commandAliases: [(value) => Array.isArray(value) && value.every(isObject), "a list of objects"],
  activation: [hasCommands, `an object, in which "onCommands" is a list of strings`],
  enabledByDefault: [(value) => typeof value === "boolean", "true or false"],
  legacyPluginIds: [isTexts, "a list of strings"],
};
const KNOWN = new Set(["id", "configSchema", ...Object.keys(FIELDS), ...Object.keys(OTHER_FIELDS)]);

type OptionalFields = Omit<PluginManifest, "id" | "configSchema" | "rest">;

/** The optional fields that have the right form; `refuse` is called for the others. */
function checkFields(value: Readonly<Record<string, unknown>>, allowed: typeof FIELDS, refuse: (key: string, expected: string) => void): OptionalFields {
  const fields: Record<string, unknown> = {};
  for (const [key, [fits, expected]] of Object.entries(allowed)) {
    if (!Object.hasOwn(value, key) || value[key] === null) continue;
    if (fits(value[key])) fields[key] = value[key];
    else refuse(key, expected);
  }
  return fields;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  const kinds: Readonly<Record<string, string>> = { string: "a text", number: "a number", boolean: "true or false", object: "an object" };
  return kinds[typeof value] ?? typeof value;
}

/** The manifest of a plugin whose own one cannot be used, so that it can still be listed. */
export function emptyManifest(id: string): PluginManifest {
  return { id, configSchema: {}, rest: {} };
}
