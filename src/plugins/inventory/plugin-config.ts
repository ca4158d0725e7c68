import { formatPath, isObject, validate, type Issue, type JsonSchema } from "../../config/index.ts";
import type { PluginManifest } from "../record.ts";

/** What is wrong with a plugin's settings. */
export interface ConfigFinding {
  readonly level: "warn" | "error";
  /** Keys from the root of the configuration. */
  readonly path: Issue["path"];
  readonly message: string;
  readonly code: "config-invalid" | "config-missing" | "schema-invalid";
  readonly suggestion?: string;
  /** The setting that is missing from the object at `path`. */
  readonly missing?: string;
}

/** The manifest's schema of `plugins.entries.<id>.config`, with what its hints call secret marked as such, so that no message shows it. */
export function configSchemaOf(manifest: PluginManifest): JsonSchema {
  return withMarks(manifest.configSchema, manifest.uiHints);
}

/** A schema with what hints call secret marked. */
export function withMarks(schema: JsonSchema, hints: Readonly<Record<string, unknown>> = {}): JsonSchema {
  return secretPaths(hints).reduce(withSecret, schema);
}

/** What hints call secret: keys below their section, `*` for any key and `[]` for any entry. */
export function secretPaths(hints: Readonly<Record<string, unknown>> = {}): string[][] {
  return Object.entries(hints).flatMap(([path, hint]) => (isObject(hint) && hint["sensitive"] === true ? [keysOf(path)] : []));
}

/** `pins[].code` → `pins`, `[]`, `code`. */
const keysOf = (path: string): string[] =>
  path
    .replaceAll("[]", ".[]")
    .split(".")
    .map((key) => key.trim())
    .filter((key) => key !== "");

function withSecret(schema: JsonSchema, [key, ...rest]: readonly string[]): JsonSchema {
  if (key === undefined) return { ...schema, "x-sensitive": true };
  const inner = key === "[]" ? "items" : key === "*" ? "additionalProperties" : undefined;
  if (inner !== undefined) return isObject(schema[inner]) ? { ...schema, [inner]: withSecret(schema[inner], rest) } : schema;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const node = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (!isObject(node)) return schema;
  return { ...schema, properties: { ...properties, [key]: withSecret(node, rest) } };
}

/** Checks `plugins.entries.<id>.config` against the manifest; settings that are not there count as `{}`. */
export function checkPluginConfig(id: string, manifest: PluginManifest, given: { readonly hasConfig: boolean; readonly config: unknown }): ConfigFinding[] {
  const at = ["plugins", "entries", id, "config"];
  return validate(configSchemaOf(manifest), given.hasConfig ? given.config : {}, { at }).map(({ path, message, code, suggestion, missing }) => {
    const hint = suggestion === undefined ? {} : { suggestion };
    // What the host cannot check is the plugin author's matter and no reason to keep the plugin out.
    if (code === "schema") return { level: "warn", path, message, code: "schema-invalid", ...hint };
    // Settings that are still to be made are no fault: the plugin waits for them.
    if (missing !== undefined) return { level: "warn", path, message, code: "config-missing", missing };
    return { level: "error", path, message, code: given.hasConfig ? "config-invalid" : "config-missing", ...hint };
  });
}

/** Settings that a plugin needs and that are not made, as `config set` takes their paths. */
export function missingSettings(findings: readonly ConfigFinding[]): string[] {
  return findings.flatMap(({ path, missing }) => (missing === undefined ? [] : [formatPath([...path, missing])]));
}

/** `needs configuration: …`, with the commands that make the settings. */
export function describeMissing(settings: readonly string[]): string {
  const commands = settings.map((setting) => `openclaw config set ${/^[\w.$-]+$/.test(setting) ? setting : `'${setting}'`} <value>`);
  return `needs configuration; run: ${commands.join(" && ")}`;
}

/** One line for lists: `invalid config: port: expected a number, found a text`, or which settings have to be made first. */
export function describeFindings(findings: readonly ConfigFinding[]): string {
  const missing = missingSettings(findings);
  if (missing.length > 0 && missing.length === findings.length) return describeMissing(missing);
  const lines = findings.map(({ path, message }) => `${path.slice(4).join(".") || "<root>"}: ${message}`);
  return `invalid config: ${lines.slice(0, 3).join("; ")}${lines.length > 3 ? `; and ${lines.length - 3} more` : ""}`;
}
