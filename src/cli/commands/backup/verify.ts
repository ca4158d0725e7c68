import { resolve } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { formatBytes } from "../../../base/text.ts";
import { loadBackup } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson } from "../../io.ts";
import { createProgress } from "../../output/progress.ts";
import { createStyle } from "../../output/style.ts";
import { PASSPHRASE_OPTION, passphraseFrom } from "./passphrase.ts";

export const verify = defineCommand({
  positionals: "<backup>",
  options: { "passphrase-file": PASSPHRASE_OPTION, json: JSON_OPTION },
  examples: [{ line: "openclaw backup verify openclaw-backup-….tar.gz", does: "exit code 0 when it is whole" }],
  async run({ io, values, positionals }) {
    const [path] = positionals;
    if (path === undefined) throw new AppError("INVALID_INPUT", "expected the backup's path");
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
      if (ok) io.out(`${style.green("whole")}: ${manifest?.files.length} files, ${size}, made ${manifest?.createdAt}\n`);
      else if (reason === "damaged") io.out(`${style.red("damaged")}: do not rely on this backup\n`);
      else if (reason === "too_new" || reason === "not_compressed") io.out(`${style.red("not checked")}: nothing is known about what is in this backup\n`);
      else io.out(`${style.red("could not be opened")}: nothing is known about what is in this backup\n`);
    }
    return ok ? 0 : 1;
  },
});
