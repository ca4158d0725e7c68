/** Brings hooks into the state folder: a folder with a `HOOK.md`, or a package that names such folders. Nothing here runs code of a hook. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HookProblem } from "../../automation/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isObject, valueAt, type ConfigEdit } from "../../config/index.ts";
import { readJsonFile } from "../inventory/json-file.ts";
import type { InstallDeps } from "./deps.ts";
import { addDependencies, folderName, kindOf, passGates, recordOf, type InstallRequest } from "./install.ts";
import { recoverInstalls } from "./journal.ts";
import { texts, type InstallRecord } from "./record.ts";
import { scanCode } from "./scan/code.ts";
import { scanOf, type BuiltinScan, type Finding } from "./scan/finding.ts";
import { registryDependencies, scanScripts, type Dependencies } from "./scan/package.ts";
import { parseSource, type Source } from "./source.ts";
import { fetchInto, openStage, type Fetched, type Stage } from "./stage.ts";
import { swapIn } from "./swap.ts";
import { checkTree } from "./tree.ts";
import { notFromRegistry, type UpdateOutcome, type UpdateRequest } from "./update.ts";

/** `hooks.internal.installs.<id>`. */
type HookInstallRecord = InstallRecord & { readonly hooks: readonly string[] };

export interface HookPackResult {
  /** Name of the package, or of its one hook. */
  readonly id: string;
  /** Names of its hooks. */
  readonly hooks: readonly string[];
  readonly version?: string | undefined;
  readonly record: HookInstallRecord;
  readonly scan: BuiltinScan;
  readonly dryRun: boolean;
  readonly replaced: boolean;
}

interface HookPack {
  readonly id: string;
  readonly hooks: readonly { readonly name: string; readonly key: string }[];
  readonly version?: string | undefined;
  readonly packageName?: string | undefined;
  readonly dependencies: Dependencies;
  readonly scan: BuiltinScan;
}

const ID = /^[a-z0-9][\w.-]{0,99}$/i;
const INSTALLS = ["hooks", "internal", "installs"];

const records = (config: unknown): Readonly<Record<string, unknown>> => {
  const found = valueAt(config, INSTALLS);
  return isObject(found) ? found : {};
};

/** Reads a folder as the gateway will. Throws when there is no hook in it, or one that cannot be used anywhere. */
async function inspectHooks(root: string, files: readonly string[], isOwn: boolean): Promise<HookPack> {
  const { loadInternalHooks } = await import("../../automation/index.ts");
  const { hooksOf } = await loadInternalHooks();
  const problems: HookProblem[] = [];
  const hooks = await hooksOf(root, "openclaw-managed", problems);
  const shown = (text: string): string => text.replaceAll(`${root}/`, "").replaceAll(root, "its folder");
  const [problem] = problems;
  const broken = hooks.find(({ events, files: found }) => events.length === 0 || found?.handlerPath === undefined);
  const [first] = hooks;
  if (problem) throw new AppError("INVALID_INPUT", `these hooks cannot be used: ${shown(`${problem.path}: ${problem.message}`)}`);
  if (!first) throw new AppError("INVALID_INPUT", 'this is not a hook: expected a HOOK.md, or a package.json with "openclaw.hooks"');
  if (broken)
    throw new AppError(
      "INVALID_INPUT",
      `the hook ${broken.name} cannot be used: expected events in its HOOK.md, and a handler.ts, handler.js, index.ts or index.js`,
    );
  const findings: Finding[] = [];
  for (const name of isOwn ? [".npmrc", ".yarnrc", ".yarnrc.yml"] : []) rmSync(join(root, name), { recursive: true, force: true });
  const read = readJsonFile(join(root, "package.json"));
  const pkg = "file" in read && isObject(read.file.value) ? read.file.value : {};
  const text = (key: string): string | undefined => (typeof pkg[key] === "string" ? pkg[key] : undefined);
  const id = folderName(text("name") ?? first.name);
  if (!ID.test(id)) throw new AppError("INVALID_INPUT", `${JSON.stringify(id)} cannot be the name of a folder: expected letters, digits, ".", "_" and "-"`);
  const code = scanCode(root, files);
  findings.push(...scanScripts(pkg), ...code.findings);
  return {
    id,
    hooks: hooks.map(({ name, key }) => ({ name, key })),
    version: text("version"),
    packageName: text("name"),
    dependencies: registryDependencies(pkg),
    scan: scanOf(findings, code.scanned),
  };
}

/** What an install changes in the configuration. An update leaves hooks on or off as they are. */
function editOf(
  { id, hooks }: HookPack,
  record: HookInstallRecord,
  { isUpdate, linked }: { readonly isUpdate: boolean; readonly linked?: string },
): ConfigEdit {
  // Null first: an old field that the new record lacks must not stay.
  const replace = (written: unknown): Readonly<Record<string, unknown>> => {
    const old = records(written)[id];
    return { ...Object.fromEntries(Object.keys(isObject(old) ? old : {}).map((key) => [key, null])), ...record };
  };
  return {
    kind: "from",
    edit({ resolved }) {
      const installs = { [id]: replace(resolved) };
      if (isUpdate) return { kind: "patch", value: { hooks: { internal: { installs } } } };
      const dirs = texts(resolved, "hooks", "internal", "load", "extraDirs");
      const load = linked === undefined || dirs.includes(linked) ? {} : { load: { extraDirs: [...dirs, linked] } };
      const entries = Object.fromEntries(hooks.map(({ key }) => [key, { enabled: true }]));
      return { kind: "patch", value: { hooks: { internal: { enabled: true, entries, installs, ...load } } } };
    },
  };
}

const gateRequest = (request: InstallRequest, source: Source, pack: HookPack, fetched: Fetched, requestKind: "install" | "update") => ({
  // Its code runs in the gateway as that of a plugin does: the same policies hold.
  targetType: "plugin" as const,
  targetName: pack.id,
  version: pack.version,
  source: kindOf(source),
  spec: request.spec,
  requestKind,
  sourcePath: fetched.root,
  packageName: pack.packageName,
  integrity: fetched.integrity,
  builtinScan: pack.scan,
});

/** Installs hooks. When it fails, or is only tried, everything is as before. */
export async function installHookPack(request: InstallRequest, deps: InstallDeps): Promise<HookPackResult> {
  recoverInstalls({ stateDir: deps.stateDir, config: deps.config, now: deps.clock.now(), what: "hooks" });
  const source = parseSource(request.spec, deps);
  if (source.kind === "file")
    throw new AppError("INVALID_INPUT", `${source.path} is not a hook: expected a folder with a HOOK.md, an archive of one, or an npm package`);
  if (request.link) return linkPack(request, source, deps);
  using stage = openStage(deps);
  const fetched = await fetchInto(stage, source, deps);
  return await placePack({ request, source, stage, fetched, kind: "install" }, deps);
}

interface Placing {
  readonly request: InstallRequest;
  readonly source: Source;
  readonly stage: Stage;
  readonly fetched: Fetched;
  readonly kind: "install" | "update";
  /** The pack that it must be. */
  readonly expected?: string;
}

async function placePack({ request, source, stage, fetched, kind, expected }: Placing, deps: InstallDeps): Promise<HookPackResult> {
  const { root } = fetched;
  deps.onStep?.("inspecting it");
  const inspected = await inspectHooks(root, checkTree(root, deps.limits).files, true);
  const { id, version } = inspected;
  if (expected !== undefined && id !== expected) throw new AppError("INVALID_INPUT", `${request.spec} is ${id} now, not ${expected}; nothing was replaced`);
  const folder = join(deps.stateDir, "hooks");
  const at = join(folder, id);
  const replaced = existsSync(at);
  if (replaced && kind === "install" && !request.force)
    throw new AppError("CONFLICT", `hooks already exist: ${at}; to replace them, run: openclaw hooks install ${request.spec} --force`);
  const added = await addDependencies(inspected, root, stage, request, deps);
  const pack = { ...inspected, scan: scanOf([...inspected.scan.findings, ...added], inspected.scan.scannedFiles) };
  const scan = await passGates(gateRequest(request, source, pack, fetched, kind), deps);
  const names = pack.hooks.map(({ name }) => name);
  const record = { ...recordOf(request, source, pack, fetched, at, deps), hooks: names };
  const result: HookPackResult = { id, hooks: names, version, record, scan, dryRun: request.dryRun === true, replaced };
  if (request.dryRun) return result;
  const change = { folder, ids: [id], target: id, staged: root, installedAt: record.installedAt, token: deps.ids.hex(6), pid: deps.pid, now: deps.clock.now() };
  deps.onStep?.(`installing into ${at}`);
  await swapIn(change, () => deps.edit(editOf(pack, record, { isUpdate: kind === "update" })));
  return result;
}

/** Uses a folder where it is. */
async function linkPack(request: InstallRequest, source: Source, deps: InstallDeps): Promise<HookPackResult> {
  if (source.kind !== "folder") throw new AppError("INVALID_INPUT", `--link needs the folder of a hook; ${JSON.stringify(request.spec)} is not one`);
  const { path } = source;
  const pack = await inspectHooks(path, [], false);
  const scan = await passGates(gateRequest(request, source, pack, { root: path }, "install"), deps);
  const names = pack.hooks.map(({ name }) => name);
  const record = { ...recordOf(request, source, pack, { root: path }, path, deps), hooks: names };
  if (!request.dryRun) await deps.edit(editOf(pack, record, { isUpdate: false, linked: path }));
  return { id: pack.id, hooks: names, version: pack.version, record, scan, dryRun: request.dryRun === true, replaced: false };
}

/** Brings newer versions of packs that came from the npm registry. One that fails stays as it is. */
export async function updateHookPacks({ id, dryRun }: UpdateRequest, deps: InstallDeps): Promise<readonly UpdateOutcome[]> {
  recoverInstalls({ stateDir: deps.stateDir, config: deps.config, now: deps.clock.now(), what: "hooks" });
  const known = records(deps.config());
  if (id !== undefined && !Object.hasOwn(known, id))
    throw new AppError(
      "NOT_FOUND",
      `no install of ${JSON.stringify(id)} is recorded in hooks.internal.installs; there are: ${Object.keys(known).join(", ") || "none"}`,
    );
  const outcomes: UpdateOutcome[] = [];
  for (const one of id === undefined ? Object.keys(known) : [id]) {
    try {
      outcomes.push(await updateOne(one, known[one], dryRun === true, deps));
    } catch (error) {
      outcomes.push({ id: one, status: "failed", reason: messageOf(error) });
    }
  }
  return outcomes;
}

async function updateOne(id: string, record: unknown, dryRun: boolean, deps: InstallDeps): Promise<UpdateOutcome> {
  const field = (key: string): string | undefined => (isObject(record) && typeof record[key] === "string" ? record[key] : undefined);
  const from = field("resolvedVersion") ?? field("version");
  const installPath = field("installPath");
  const isMissing = installPath !== undefined && !existsSync(installPath);
  const kind = field("source");
  if (kind !== "npm") {
    const places = { sourcePath: field("sourcePath") ?? "its folder", installPath: installPath ?? "its folder" };
    return { id, from, ...notFromRegistry({ source: kind === "archive" ? kind : "path", ...places }, isMissing) };
  }
  const spec = field("spec") ?? field("resolvedName");
  if (spec === undefined) return { id, status: "skipped", from, reason: "its record has no package name" };
  const source = parseSource(`npm:${spec}`, deps);
  using stage = openStage(deps);
  const fetched = await fetchInto(stage, source, deps);
  const { packed } = fetched;
  if (!packed) throw new AppError("INTERNAL", `${spec} was fetched without its registry metadata`);
  const to = packed.version;
  const integrity = field("integrity");
  if (to === from && packed.integrity === integrity && !isMissing) return { id, status: "unchanged", from, to };
  if (to === from && integrity !== undefined && packed.integrity !== integrity) {
    const question = `${packed.name}@${to} is not the same as when it was installed: different files were published under the same version. Use them?`;
    if (dryRun || !(await deps.confirm(question)))
      return { id, status: "skipped", from, to, reason: `the integrity of ${packed.name}@${to} has changed; nothing was replaced` };
  }
  await placePack({ request: { spec, dryRun }, source, stage, fetched, kind: "update", expected: id }, deps);
  return { id, status: dryRun ? "would update" : "updated", from, to };
}
