import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { readJsonFile } from "../inventory/json-file.ts";
import type { InstallDeps } from "./deps.ts";
import { inspectPlugin, type Inspected } from "./inspect.ts";
import { recoverInstalls } from "./journal.ts";
import { hasDependencies, installDependencies } from "./npm.ts";
import { installEdit, installRecord, texts, type InstallRecord } from "./record.ts";
import { scanOf, type BuiltinScan, type Finding } from "./scan/finding.ts";
import { parseSource, type Source } from "./source.ts";
import { extensionsFolder, fetchInto, openStage, type Fetched, type Stage } from "./stage.ts";
import { swapIn } from "./swap.ts";
import { checkTree } from "./tree.ts";
import { valueAt } from "../../config/index.ts";
import { askPolicy, type PolicyRequest } from "./policy.ts";

/**
 * Asks everyone who may refuse: first the operator's policy, then plugins that are loaded in this process. Throws when one refuses; a handler that throws or takes too
 * long counts as a refusal. Gives the findings with what handlers added.
 */
export async function passGates(request: PolicyRequest, deps: Pick<InstallDeps, "config" | "env" | "signal" | "hooks">): Promise<BuiltinScan> {
  await askPolicy(valueAt(deps.config(), ["security", "installPolicy"]), request, deps.env, deps.signal);
  const { builtinScan } = request;
  if (!deps.hooks?.has("before_install")) return builtinScan;
  const { targetType, requestKind } = request;
  const event = {
    targetType,
    targetName: request.targetName,
    sourcePath: request.sourcePath,
    source: request.source,
    origin: request.spec,
    builtinScan: { ...builtinScan, findings: builtinScan.findings.map((finding) => ({ ...finding })) },
    ...(request.version === undefined ? {} : { version: request.version }),
  };
  const outcome = await deps.hooks.run("before_install", event, { targetType, requestKind, origin: request.spec });
  if (outcome?.block === true) {
    const by = outcome.decidedBy === undefined ? "a plugin" : `the plugin ${outcome.decidedBy}`;
    throw new AppError("PERMISSION_DENIED", `${by} blocks the install of ${request.targetName}: ${outcome.blockReason ?? "no reason was given"}`);
  }
  const added = (outcome?.findings ?? []).map((finding): Finding => ({ ...finding, severity: finding.severity ?? "warn", ruleId: finding.ruleId ?? "hook" }));
  return scanOf([...builtinScan.findings, ...added], builtinScan.scannedFiles);
}

export interface InstallRequest {
  /** A folder, a file, an archive, or `name[@version or tag]` of the npm registry. */
  readonly spec: string;
  /** Use the folder where it is. */
  readonly link?: boolean | undefined;
  /** Remember the exact version, so that an update stays with it. */
  readonly pin?: boolean | undefined;
  /** Look at everything, change nothing. */
  readonly dryRun?: boolean | undefined;
  /** Replace what is there. */
  readonly force?: boolean | undefined;
  /** Turn it on; true by default. */
  readonly enable?: boolean | undefined;
}

export interface InstallResult {
  readonly ids: readonly string[];
  readonly name: string;
  readonly version?: string | undefined;
  readonly record: InstallRecord;
  readonly scan: BuiltinScan;
  readonly notes: readonly string[];
  readonly dryRun: boolean;
  /** Whether another one stood there. */
  readonly replaced: boolean;
}

/** How an id is called as a folder. */
export const folderName = (id: string): string => id.replace(/^@/, "").replaceAll("/", "__");

/** Installs a plugin. No code of it runs, whatever happens. When it fails, or is only tried, everything is as before. */
export async function installPlugin(request: InstallRequest, deps: InstallDeps): Promise<InstallResult> {
  recoverInstalls({ stateDir: deps.stateDir, config: deps.config, now: deps.clock.now() });
  const source = parseSource(request.spec, deps);
  if (request.link) return linkPlugin(request, source, deps);
  using stage = openStage(deps);
  const fetched = await fetchInto(stage, source, deps);
  return await placePlugin({ request, source, stage, fetched, kind: "install" }, deps);
}

export interface Placing {
  readonly request: InstallRequest;
  readonly source: Source;
  readonly stage: Stage;
  readonly fetched: Fetched;
  readonly kind: "install" | "update";
  /** The plugin that it must be. */
  readonly expected?: string;
}

/** Checks what was staged, asks who may say no, and puts it in its place. */
export async function placePlugin({ request, source, stage, fetched, kind, expected }: Placing, deps: InstallDeps): Promise<InstallResult> {
  const { root } = fetched;
  deps.onStep?.("inspecting it");
  const inspected = await inspectPlugin(root, { owned: true, tree: checkTree(root, deps.limits) });
  const { id } = inspected.entries[0].manifest;
  if (expected !== undefined && !inspected.entries.some((entry) => entry.id === expected)) {
    throw new AppError("INVALID_INPUT", `${request.spec} is the plugin ${id} now, not ${expected}; nothing was replaced`);
  }
  const folder = extensionsFolder(deps.stateDir);
  const target = folderName(id);
  const at = join(folder, target);
  const replaced = existsSync(at);
  if (replaced && kind === "install" && !request.force) {
    const update = installRecord(deps.config(), id)?.source === "npm" ? `openclaw plugins update ${id} installs a newer version; ` : "";
    throw new AppError("CONFLICT", `plugin already exists: ${at}; ${update}to replace it, run: openclaw plugins install ${request.spec} --force`);
  }
  refuseDenied(inspected, deps.config());
  const added = await addDependencies(inspected, root, stage, request, deps);
  const checked = scanOf([...inspected.scan.findings, ...added], inspected.scan.scannedFiles);
  const scan = await passGates(gateRequest(request, source, { ...inspected, scan: checked }, fetched, kind), deps);
  const record = recordOf(request, source, inspected, fetched, at, deps);
  const { edit, notes } = installEdit(deps.config(), inspected.entries, record, { isUpdate: kind === "update", enable: request.enable });
  const result = resultOf(inspected, record, { scan, notes, dryRun: request.dryRun === true, replaced });
  if (request.dryRun) return result;
  if (replaced) await keepWorking(request, result, root, deps);
  failpoint("plugins.staged");
  const { ids } = result;
  const change = { folder, ids, target, staged: root, installedAt: record.installedAt, token: deps.ids.hex(6), pid: deps.pid, now: deps.clock.now() };
  deps.onStep?.(`installing into ${at}`);
  await swapIn(change, () => deps.edit(edit));
  return result;
}

/** What cannot be loaded does not replace what is installed. */
async function keepWorking({ spec }: InstallRequest, { ids }: InstallResult, root: string, deps: InstallDeps): Promise<void> {
  if (!deps.tryStaged) return;
  deps.onStep?.("trying to load it");
  const why = await deps.tryStaged(root, ids);
  if (why === undefined) return;
  const [id] = ids;
  const message = `${id} was not replaced, the installed one stays in use: the new one cannot be loaded: ${why}. To install it anyway, run: openclaw plugins uninstall ${id} --force && openclaw plugins install ${spec}`;
  throw new AppError("PLUGIN_FAILED", message, { details: { pluginId: id } });
}

/** Uses a folder where it is: it is looked at as it is now, and can change any time. */
async function linkPlugin(request: InstallRequest, source: Source, deps: InstallDeps): Promise<InstallResult> {
  if (source.kind !== "folder") throw new AppError("INVALID_INPUT", `--link needs the folder of a plugin; ${JSON.stringify(request.spec)} is not one`);
  const { path } = source;
  const inspected = await inspectPlugin(path, { owned: false, tree: { files: ownFiles(path), bytes: 0 } });
  refuseDenied(inspected, deps.config());
  const scan = await passGates(gateRequest(request, source, inspected, { root: path }, "install"), deps);
  const installedAt = new Date(deps.clock.now()).toISOString();
  const record: InstallRecord = { source: "path", spec: request.spec, sourcePath: path, installPath: path, ...versionOf(inspected), installedAt };
  const { edit, notes } = installEdit(deps.config(), inspected.entries, record, { loadPath: path, isUpdate: false, enable: request.enable });
  const result = resultOf(inspected, record, { scan, notes, dryRun: request.dryRun === true, replaced: false });
  if (!request.dryRun) await deps.edit(edit);
  return result;
}

/** A folder under development has links and tools in it: only what its package or its entry names is looked at. */
function ownFiles(path: string): string[] {
  const names = ["package.json", "openclaw.plugin.json", "index.ts", "index.js", "index.mjs", "index.cjs", "src/index.ts", "binding.gyp"];
  const read = readJsonFile(join(path, "package.json"));
  const block = "file" in read ? valueAt(read.file.value, ["openclaw", "extensions"]) : undefined;
  const entries = Array.isArray(block) ? block.filter((entry) => typeof entry === "string").map((entry) => join(".", entry)) : [];
  return [...new Set([...names, ...entries])].filter((name) => !name.startsWith("..") && existsSync(join(path, name)));
}

function refuseDenied({ entries }: Inspected, config: unknown): void {
  const denied = [...texts(config, "plugins", "deny"), ...texts(config, "plugins", "disabled")];
  const id = entries.map((entry) => entry.id).find((one) => denied.includes(one));
  if (id !== undefined) throw new AppError("CONFLICT", `plugin "${id}" may not be used: it is in plugins.deny; remove it from there first`);
}

export async function addDependencies(
  { dependencies }: Pick<Inspected, "dependencies">,
  root: string,
  stage: Stage,
  { dryRun }: Pick<InstallRequest, "dryRun">,
  deps: InstallDeps,
): Promise<BuiltinScan["findings"]> {
  const wanted = Object.keys(dependencies.dependencies).length + Object.keys(dependencies.optionalDependencies).length;
  if (dryRun || wanted === 0 || hasDependencies(root, dependencies)) return [];
  deps.onStep?.(`installing ${wanted} ${wanted === 1 ? "package" : "packages"} that it needs`);
  const findings = await installDependencies(root, join(stage.folder, "dependencies"), dependencies, deps);
  checkTree(root, deps.limits);
  return findings;
}

export const kindOf = (source: Source): InstallRecord["source"] => (source.kind === "npm" || source.kind === "archive" ? source.kind : "path");

function gateRequest(
  request: InstallRequest,
  source: Source,
  { entries, version, packageName, scan }: Inspected,
  fetched: Fetched,
  requestKind: "install" | "update",
) {
  return {
    targetType: "plugin" as const,
    targetName: entries[0].manifest.id,
    version,
    source: kindOf(source),
    spec: request.spec,
    requestKind,
    sourcePath: fetched.root,
    packageName,
    integrity: fetched.integrity,
    builtinScan: scan,
  };
}

const versionOf = ({ version }: Pick<Inspected, "version">): { version?: string } => (version === undefined ? {} : { version });

export function recordOf(
  request: InstallRequest,
  source: Source,
  inspected: Pick<Inspected, "version">,
  { packed, integrity, shasum }: Fetched,
  at: string,
  deps: InstallDeps,
): InstallRecord & { readonly installedAt: string } {
  const time = new Date(deps.clock.now()).toISOString();
  const exact = packed ? `${packed.name}@${packed.version}` : undefined;
  return {
    source: kindOf(source),
    spec: source.kind === "npm" ? ((request.pin ? exact : undefined) ?? source.spec) : request.spec,
    ...(source.kind === "npm" ? {} : { sourcePath: source.path }),
    installPath: at,
    ...versionOf(inspected),
    ...(packed && exact !== undefined ? { resolvedName: packed.name, resolvedVersion: packed.version, resolvedSpec: exact, resolvedAt: time } : {}),
    ...(integrity === undefined ? {} : { integrity }),
    ...(shasum === undefined ? {} : { shasum }),
    installedAt: time,
  };
}

function resultOf({ entries, version }: Inspected, record: InstallRecord, more: Pick<InstallResult, "scan" | "notes" | "dryRun" | "replaced">): InstallResult {
  return { ids: entries.map(({ id }) => id), name: entries[0].name, version, record, ...more };
}
