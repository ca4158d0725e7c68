import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface FakePrograms {
  readonly folder: string;
  /** Before everything that the machine has. */
  readonly path: string;
  /** Every call in order: `systemctl --user daemon-reload`. */
  calls(): readonly string[];
}

/** Programs of the machine, played by shell scripts in a folder of their own that write down how they are called. */
export function fakePrograms(home: string, scripts: Readonly<Record<string, string>>): FakePrograms {
  const folder = mkdtempSync(join(home, "programs-"));
  mkdirSync(folder, { recursive: true });
  const log = join(folder, ".calls");
  for (const [name, body] of Object.entries(scripts)) {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> '${log}'\n${body}\n`);
    chmodSync(file, 0o755);
  }
  return {
    folder,
    path: `${folder}:${process.env["PATH"]}`,
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []),
  };
}

/** A systemd that runs nothing. `fails` answers calls that contain a text with a failure of these words. */
export const systemctl = (fails: Readonly<Record<string, string>> = {}): string =>
  [...Object.entries(fails).map(([part, words]) => `case "$*" in *${part}*) echo '${words}' >&2; exit 1;; esac`), "exit 0"].join("\n");
