import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { skillFolders } from "../../agent/index.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { bundledSkillsFolder } from "../../base/program-folders.ts";
import type { Config } from "../../config/index.ts";
import type { SkillAdminPort, SkillSourceRequest } from "../../gateway/index.ts";
import type { InstallHooks } from "../install/deps.ts";
import { createSkill } from "./create.ts";
import { installSkill, type SkillInstallDeps, type SkillInstallResult } from "./install.ts";
import { changedFiles, readRecord, type SkillRecord } from "./record.ts";
import { removeSkill } from "./update.ts";

export interface SkillAdminDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Of plugins that run. */
  readonly hooks: () => InstallHooks | undefined;
}

/** Names the files of a skill: others have another one. */
const digestOf = ({ files }: Pick<SkillRecord, "files">): string => createHash("sha256").update(canonicalJson(files)).digest("hex");

const MOST_BUNDLED = 1000;

async function bundledNames({ config }: SkillAdminDeps): Promise<ReadonlySet<string>> {
  const folder = bundledSkillsFolder(config.env());
  return new Set(folder === undefined ? [] : (await skillFolders(folder, MOST_BUNDLED)).map((path) => basename(path)));
}

function reviewOf({ review, scan }: SkillInstallResult): Awaited<ReturnType<SkillAdminPort["review"]>>["review"] {
  const { name, description, homepage, files, bytes, bins, anyBins, env, config, os, install } = review;
  const findings = scan.findings.map(({ severity, message, file, line }) => ({
    severity,
    message,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  }));
  const lists = { bins: [...bins], anyBins: [...anyBins], env: [...env], config: [...config], os: [...os], install: [...install] };
  return { name, description, ...(homepage === undefined ? {} : { homepage }), files: files.map((file) => ({ ...file })), bytes, ...lists, findings };
}

/** Installs, writes and deletes skills in the running gateway. */
export function createSkillAdministration(deps: SkillAdminDeps): SkillAdminPort {
  const { config, clock, ids } = deps;
  const log = deps.log.subsystem("skills");

  async function installDeps({ skillsDir, signal }: SkillSourceRequest, digest: string | undefined): Promise<SkillInstallDeps> {
    return {
      skillsDir,
      bundled: await bundledNames(deps),
      config: () => config.snapshot().resolved,
      hooks: deps.hooks(),
      env: config.env(),
      platform: process.platform,
      cwd: config.paths.home,
      home: config.paths.home,
      pid: process.pid,
      clock,
      ids,
      signal,
      onStep: (what) => log.info(`install: ${what}`),
      async agree(_, record) {
        if (digest !== undefined && digestOf(record) === digest) return true;
        throw new AppError("CONFLICT", "the skill has changed since it was reviewed; review it again, then install it");
      },
    };
  }

  return {
    async review(request) {
      const { spec, sha256 } = request;
      const used = await installDeps(request, undefined);
      const result = await installSkill({ spec, sha256, dryRun: true, force: true }, used);
      const { path, record } = result;
      return { review: reviewOf(result), path, digest: digestOf(record), replaces: existsSync(path), shadows: used.bundled.has(record.name) };
    },
    async install({ digest, force, ...request }) {
      const { spec, sha256 } = request;
      const { status, path, review } = await installSkill({ spec, sha256, force }, await installDeps(request, digest));
      return { status: status === "replaced" ? "replaced" : "installed", name: review.name, path };
    },
    remove: async ({ name, skillsDir, force }) => removeSkill(name, { force }, { skillsDir, pid: process.pid }),
    async create({ name, description, skillsDir, force }) {
      const bundled = await bundledNames(deps);
      const folder = createSkill({ name, description: description?.trim() || undefined, skillsDir, bundled, force, pid: process.pid, token: ids.hex(6) });
      return { name, path: join(folder, "SKILL.md") };
    },
    async installed(baseDir) {
      const record = readRecord(baseDir);
      return record && { source: record.spec, installedAt: record.installedAt, changed: [...changedFiles(baseDir, record)] };
    },
  };
}
