import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { shellWord } from "../../base/text.ts";
import type { InstallDeps } from "../install/deps.ts";
import { passGates } from "../install/install.ts";
import type { BuiltinScan } from "../install/scan/finding.ts";
import { fetchSkill, type FetchedSkill, type SkillFetchDeps } from "./fetch.ts";
import { hashFiles, readRecord, RECORD_FILE, writeRecord, type SkillRecord } from "./record.ts";
import { reviewSkill, type SkillReview } from "./review.ts";
import { parseSkillSource, type SkillSource } from "./source.ts";
import { openSkillStage, recoverSkills, swapSkill } from "./swap.ts";

/** What installing a skill needs from the program around it. */
export interface SkillInstallDeps extends SkillFetchDeps, Pick<InstallDeps, "config" | "hooks" | "cwd" | "home" | "pid"> {
  readonly ids: Pick<Ids, "hex">;
  readonly platform: string;
  /** Where the skill goes: the managed folder, or the one of a workspace. */
  readonly skillsDir: string;
  /** Names of skills that come with the program. */
  readonly bundled: ReadonlySet<string>;
  /** Shows what came, before anything is changed. False: it is not wanted. */
  readonly agree: (review: SkillReview, record: SkillRecord) => Promise<boolean>;
}

export interface SkillInstallRequest {
  /** A folder, an archive, an https address or a git repository, with `#ref[:folder]`. */
  readonly spec: string;
  /** What an archive has to be. */
  readonly sha256?: string | undefined;
  /** Replace the one that is installed, or stand in for a bundled one. */
  readonly force?: boolean | undefined;
  /** Look at everything, change nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface SkillInstallResult {
  readonly status: "installed" | "replaced" | "declined" | "dry run";
  readonly review: SkillReview;
  readonly path: string;
  readonly record: SkillRecord;
  /** With what plugins added. */
  readonly scan: BuiltinScan;
}

/** Installs a skill. Nothing of it runs. When it fails, is declined or only tried, everything is as before. */
export async function installSkill(request: SkillInstallRequest, deps: SkillInstallDeps): Promise<SkillInstallResult> {
  if (request.sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(request.sha256)) throw new AppError("INVALID_INPUT", "--sha256 takes 64 hexadecimal digits");
  recoverSkills(deps.skillsDir);
  const source = parseSkillSource(request.spec, deps);
  using stage = openSkillStage(deps.skillsDir, deps.pid, deps.ids.hex(6));
  const fetched = await fetchSkill(source, stage.folder, request.sha256, deps);
  return await placeSkill({ request, source, fetched, kind: "install" }, deps);
}

export interface SkillPlacing {
  readonly request: SkillInstallRequest;
  readonly source: SkillSource;
  readonly fetched: FetchedSkill;
  readonly kind: "install" | "update";
  /** The skill that it must be. */
  readonly expected?: string;
}

/** Checks what was staged, shows it, asks who may say no, and puts it in its place. */
export async function placeSkill({ request, source, fetched, kind, expected }: SkillPlacing, deps: SkillInstallDeps): Promise<SkillInstallResult> {
  const { root, sha256, commit } = fetched;
  // A record that came with it would speak of another install.
  rmSync(join(root, RECORD_FILE), { recursive: true, force: true });
  deps.onStep?.("inspecting it");
  const review = reviewSkill(root, deps.platform);
  const { name } = review;
  if (expected !== undefined && name !== expected)
    throw new AppError("INVALID_INPUT", `${request.spec} is the skill ${name} now, not ${expected}; nothing was replaced`);
  const path = join(deps.skillsDir, name);
  const replaced = existsSync(path);
  if (kind === "install" && request.force !== true) refuseClash(name, path, replaced, request, deps);
  const scan = await passGates(
    {
      targetType: "skill",
      targetName: name,
      source: source.kind === "folder" ? "path" : "archive",
      spec: request.spec,
      requestKind: kind,
      sourcePath: root,
      ...(sha256 === undefined ? {} : { integrity: `sha256-${Buffer.from(sha256, "hex").toString("base64")}` }),
      builtinScan: review.scan,
    },
    deps,
  );
  const record: SkillRecord = {
    version: 1,
    name,
    source: source.kind,
    spec: specOf(source),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(request.sha256 === undefined ? {} : { pinned: true }),
    ...(commit === undefined ? {} : { commit }),
    files: hashFiles(root),
    installedAt: new Date(deps.clock.now()).toISOString(),
  };
  const shown = { ...review, scan };
  const result = { review: shown, path, record, scan };
  if (request.dryRun === true) return { ...result, status: "dry run" };
  if (!(await deps.agree(shown, record))) return { ...result, status: "declined" };
  writeRecord(root, record);
  swapSkill(deps.skillsDir, name, root, deps.pid);
  return { ...result, status: replaced ? "replaced" : "installed" };
}

function refuseClash(name: string, path: string, replaced: boolean, { spec }: SkillInstallRequest, { bundled }: SkillInstallDeps): void {
  if (replaced) {
    const update = readRecord(path) ? `openclaw skills update ${name} installs a newer version; ` : "";
    throw new AppError(
      "CONFLICT",
      `a skill ${name} is already installed: ${path}; ${update}to replace it, run: openclaw skills install ${shellWord(spec) ?? "<source>"} --force`,
    );
  }
  if (bundled.has(name)) {
    throw new AppError(
      "CONFLICT",
      `${name} is the name of a skill that comes with OpenClaw; to use this one instead, run: openclaw skills install ${shellWord(spec) ?? "<source>"} --force`,
    );
  }
}

/** The source as an update finds it again from anywhere. */
function specOf(source: SkillSource): string {
  const base =
    source.kind === "folder" || source.kind === "archive"
      ? source.path
      : source.kind === "git" && !source.url.startsWith("/")
        ? gitSpec(source.url)
        : source.url;
  const ref = source.kind === "git" ? (source.ref ?? "") : "";
  const fragment = source.folder === undefined ? ref : `${ref}:${source.folder}`;
  // A repository on this disk is known by its ref.
  if (source.kind === "git" && source.url.startsWith("/")) return `git+file://${source.url}${fragment === "" ? "" : `#${fragment}`}`;
  return `${base}${fragment === "" ? "" : `#${fragment}`}`;
}

const gitSpec = (url: string): string => (/^(?:https|file):\/\//i.test(url) ? `git+${url}` : url);
