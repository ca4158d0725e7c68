import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { isObject } from "../../config/index.ts";
import { readJsonFile } from "../inventory/json-file.ts";
import { readInventory } from "../inventory/inventory.ts";
import type { PluginEntry } from "../record.ts";
import { scanCode } from "./scan/code.ts";
import { scanOf, type BuiltinScan, type Finding } from "./scan/finding.ts";
import { registryDependencies, scanScripts, type Dependencies } from "./scan/package.ts";
import { checkTree, type TreeFacts } from "./tree.ts";

/** What is known of a plugin before any of it is in use. */
export interface Inspected {
  /** Its plugins: one, or several when the package has several entries. */
  readonly entries: readonly [PluginEntry, ...PluginEntry[]];
  readonly version?: string | undefined;
  readonly packageName?: string | undefined;
  readonly dependencies: Dependencies;
  readonly facts: TreeFacts;
  readonly scan: BuiltinScan;
}

/** Settings that a plugin requires come after it is installed. */
const ABOUT_SETTINGS: ReadonlySet<string> = new Set(["config-invalid", "config-missing"]);

/** Reads a plugin as discovery will read it. Throws when it is none. */
async function readPlugins(root: string): Promise<Inspected["entries"]> {
  const { entries, diagnostics } = await readInventory({
    config: { plugins: { load: { paths: [root] } } },
    stateDir: join(root, ".no-state"),
    env: {},
    home: root,
    cwd: root,
    uid: undefined,
  });
  const problem =
    diagnostics.find(({ level, code = "" }) => level === "error" && !ABOUT_SETTINGS.has(code))?.message ??
    entries.find(({ manifest }) => manifest.id === "unnamed")?.error;
  const [first, ...others] = entries;
  if (!first || problem !== undefined) {
    const why = problem ?? `expected a package.json with "openclaw.extensions", or an index.ts or index.js`;
    throw new AppError("INVALID_INPUT", `this is not a plugin: ${why.replaceAll(`${root}/`, "").replaceAll(root, "its folder")}`);
  }
  return [first, ...others];
}

/** Looks at a plugin's folder: its files, its manifest, its scripts, its code. `owned`: files that must not be there are taken away. */
export async function inspectPlugin(root: string, { owned, tree }: { readonly owned: boolean; readonly tree?: TreeFacts }): Promise<Inspected> {
  const findings: Finding[] = [];
  for (const name of [".npmrc", ".yarnrc", ".yarnrc.yml"]) {
    if (!existsSync(join(root, name))) continue;
    if (owned) rmSync(join(root, name), { recursive: true, force: true });
    findings.push({
      severity: "warn",
      ruleId: "package-manager-settings",
      message: `it includes settings for a package manager${owned ? "; they were removed" : ""}`,
      file: name,
    });
  }
  const facts = tree ?? checkTree(root);
  const entries = await readPlugins(root);
  const read = readJsonFile(join(root, "package.json"));
  const pkg = "file" in read && isObject(read.file.value) ? read.file.value : {};
  findings.push(...scanScripts(pkg));
  if (facts.files.includes("binding.gyp"))
    findings.push({ severity: "warn", ruleId: "native-code", message: "has native code, which was not built", file: "binding.gyp" });
  const code = scanCode(root, facts.files);
  findings.push(...code.findings);
  const text = (key: string): string | undefined => (typeof pkg[key] === "string" ? pkg[key] : undefined);
  return {
    entries,
    version: text("version") ?? entries[0].version,
    packageName: text("name"),
    dependencies: registryDependencies(pkg),
    facts,
    scan: scanOf(findings, code.scanned),
  };
}
