import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { formatBytes } from "../../../base/text.ts";
import { agentWorkspace, defaultAgentId, type OpenClawConfig } from "../../../config/index.ts";
import { loadBackup } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createProgress } from "../../output/progress.ts";
import { PASSPHRASE_OPTION, passphraseFrom } from "./passphrase.ts";

/** The workspaces of all agents. */
function workspacesOf(io: Io, config: OpenClawConfig): readonly string[] {
  const context = { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd };
  const ids = [defaultAgentId(config), ...(config.agents?.list ?? []).map(({ id }) => id)];
  return ids.map((id) => agentWorkspace(config, context, id));
}

export const create = defineCommand({
  options: {
    output: { type: "string", short: "o", value: "folder", help: "put it there (default: the current folder)" },
    folder: { type: "boolean", help: "a folder instead of one .tar.gz file" },
    "passphrase-file": { ...PASSPHRASE_OPTION, help: "encrypt it with the passphrase in this file; `age -d` opens it too" },
    "include-workspace": { type: "boolean", help: "with the agents' workspaces" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw backup create", does: "openclaw-backup-<time>.tar.gz in the current folder" },
    { line: "openclaw backup create --output backups --json", does: "elsewhere, for a script" },
    { line: "openclaw backup create --passphrase-file pass.txt", does: "encrypted: openclaw-backup-<time>.tar.gz.age" },
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
      for (const { path, reason } of report.left) io.out(`left out: ${path} (${reason})\n`);
    }
  },
});
