import { readFileSync, statSync, existsSync } from "node:fs";
import { resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { type Io, printJson } from "../../io.ts";
import { homedir } from "node:os";
import { systemClock } from "../../../base/clock.ts";
import { formatBytes } from "../../../base/text.ts";
import { agentWorkspace, defaultAgentId, type OpenClawConfig } from "../../../config/index.ts";
import { loadBackup } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { createProgress } from "../../output/progress.ts";
import { createStyle } from "../../output/style.ts";

export const PASSPHRASE_OPTION = { type: "string", value: "file", help: "File with the passphrase of an encrypted backup" } as const;

/** The first line of the file, without its end. A passphrase on the command line would be seen by every program. */
export function passphraseFrom(io: Io, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const path = resolve(io.cwd, file);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
    if ((statSync(path).mode & 0o077) !== 0) io.err(`${path} can be read by other users; make it private with: chmod 600 ${file}\n`);
  } catch (error) {
    throw fileError(path, "could not read the passphrase", error);
  }
  const [passphrase = ""] = text.split(/\r?\n/, 1);
  if (passphrase === "") throw new AppError("INVALID_INPUT", `${path}: expected a passphrase in the first line, but it is empty`);
  return passphrase;
}

/** The workspaces of all agents. */
function workspacesOf(io: Io, config: OpenClawConfig): readonly string[] {
  const context = { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd };
  const ids = [defaultAgentId(config), ...(config.agents?.list ?? []).map(({ id }) => id)];
  return ids.map((id) => agentWorkspace(config, context, id));
}

export const create = defineCommand({
  options: {
    output: { type: "string", short: "o", value: "folder", help: "Folder to write it to (default: the current folder)" },
    folder: { type: "boolean", help: "Write a folder instead of a .tar.gz file" },
    "passphrase-file": { ...PASSPHRASE_OPTION, help: "Encrypt with the passphrase in this file; `age -d` can decrypt it" },
    "include-workspace": { type: "boolean", help: "Include the agents' workspaces" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw backup create", does: "openclaw-backup-<time>.tar.gz in the current folder" },
    { line: "openclaw backup create --output backups --json", does: "Write it elsewhere, from a script" },
    { line: "openclaw backup create --passphrase-file pass.txt", does: "Encrypted: openclaw-backup-<time>.tar.gz.age" },
  ],
  async run({ io, values }) {
    const { snapshot, paths } = loadFor(io);
    const configFiles = snapshot.exists ? [snapshot.path, ...snapshot.files.filter((file) => file !== snapshot.path)] : [];
    const { createBackup } = await loadBackup();
    using bar = createProgress(io, "backup");
    const report = await createBackup({
      stateDir: paths.state,
      into: resolve(io.cwd, values.output ?? "."),
      form: values.folder ? "folder" : "tar.gz",
      configFiles,
      passphrase: passphraseFrom(io, values["passphrase-file"]),
      includeWorkspace: values["include-workspace"] ?? false,
      workspaces: workspacesOf(io, snapshot.config),
      madeBy: io.version,
      clock: systemClock,
      progress: bar.update,
    });
    bar[Symbol.dispose]();
    if (values.json) printJson(io, { ok: true, ...report });
    else {
      io.out(`${report.path}: ${report.files} files, ${formatBytes(report.bytes)}\n`);
      for (const { path, reason } of report.left) io.out(`Skipped ${path} (${reason})\n`);
    }
  },
});

export const verify = defineCommand({
  positionals: "<backup>",
  options: { "passphrase-file": PASSPHRASE_OPTION, json: JSON_OPTION },
  examples: [{ line: "openclaw backup verify openclaw-backup-….tar.gz", does: "Exit code 0 if the backup is intact" }],
  async run({ io, values, positionals }) {
    const [path] = positionals;
    if (path === undefined) throw new AppError("INVALID_INPUT", "expected the path of a backup");
    const { verifyBackup } = await loadBackup();
    using bar = createProgress(io, "verify");
    const passphrase = passphraseFrom(io, values["passphrase-file"]);
    const { ok, reason, problems, notes, manifest } = await verifyBackup({ backup: resolve(io.cwd, path), passphrase, progress: bar.update });
    bar[Symbol.dispose]();
    if (values.json) printJson(io, { ok, reason, problems, notes, createdAt: manifest?.createdAt, madeBy: manifest?.madeBy, files: manifest?.files.length });
    else {
      const style = createStyle(io.color);
      for (const problem of problems) io.out(`${style.red("!")} ${problem}\n`);
      for (const note of notes) io.out(`${note}\n`);
      const size = manifest ? formatBytes(manifest.files.reduce((sum, file) => sum + file.size, 0)) : "";
      if (ok) io.out(`${style.green("intact")}: ${manifest?.files.length} files, ${size}, made ${manifest?.createdAt}\n`);
      else if (reason === "damaged") io.out(`${style.red("damaged")}: do not rely on this backup\n`);
      else if (reason === "too_new" || reason === "not_compressed") io.out(`${style.red("not checked")}: the contents of this backup are unknown\n`);
      else io.out(`${style.red("cannot be opened")}: the contents of this backup are unknown\n`);
    }
    return ok ? 0 : 1;
  },
});
