import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isObject } from "../../config/index.ts";
import type { TestPlugin } from "./types.ts";

/** Where code written in a test waits for the loader: a module can take it from here only. */
const WAITING = Symbol.for("openclaw.plugin-testing.definitions");

function definitions(): Map<string, unknown> {
  const place = globalThis as unknown as Record<symbol, Map<string, unknown> | undefined>;
  return (place[WAITING] ??= new Map());
}

/** Paths that the host shall look at: folders and files as they are, and a folder for each plugin that was given as code. */
export function pluginPaths(plugins: readonly TestPlugin[], folder: string, key: string, stack: DisposableStack): string[] {
  return plugins.map((plugin, index) =>
    typeof plugin === "string" ? resolve(plugin) : writeDefinition(plugin, join(folder, `inline-${index + 1}`), `${key}.${index}`, stack),
  );
}

function writeDefinition(plugin: Exclude<TestPlugin, string>, folder: string, key: string, stack: DisposableStack): string {
  const definition = typeof plugin === "function" ? { register: plugin } : plugin;
  if (!isObject(definition) || (typeof definition["register"] !== "function" && typeof definition["activate"] !== "function")) {
    throw new AppError("INVALID_INPUT", "createTestHost: a plugin must be a path, a function, or an object with register or activate");
  }
  const { id = "test-plugin", manifest = {} } = definition as { id?: string; manifest?: object };
  definitions().set(key, definition);
  stack.defer(() => void definitions().delete(key));
  mkdirSync(folder, { recursive: true });
  const schema = { type: "object", additionalProperties: true, properties: {} };
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: schema, ...manifest }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: id, version: "0.0.0", type: "module", openclaw: { extensions: ["./index.mjs"] } }));
  writeFileSync(join(folder, "index.mjs"), `export default globalThis[Symbol.for(${JSON.stringify(WAITING.description)})].get(${JSON.stringify(key)});\n`);
  return folder;
}
