import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { backup } from "../../src/cli/commands/backup/index.ts";
import { loadBackup } from "../../src/store/index.ts";
import { openCommandLine } from "../harness/command-line.ts";

test("verify: a backup without its passphrase could not be opened, which is not damage; a changed one is damaged", { timeout: 60_000 }, async () => {
  const { home, stateDir, run } = openCommandLine<Record<string, unknown>>("backup", backup);
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, "notes.json"), "{}");
  const { createBackup } = await loadBackup();
  const made = { stateDir, into: join(home, "out"), form: "tar.gz", configFiles: [], madeBy: "0.1.0", clock: systemClock } as const;
  const { path } = await createBackup({ ...made, passphrase: "right" });
  for (const name of ["right", "wrong"]) writeFileSync(join(home, name), `${name}\n`);
  const verify = (...args: readonly string[]) => run("verify", path, ...args);

  expect(await verify("--passphrase-file", "right")).toMatchObject({ code: 0, out: expect.stringContaining("whole") });
  for (const [args, reason] of [
    [[], "passphrase_missing"],
    [["--passphrase-file", "wrong"], "passphrase_wrong"],
  ] as const) {
    const shown = await verify(...args);
    expect(shown).toMatchObject({ code: 1, out: expect.stringContaining("could not be opened") });
    expect(shown.out).not.toContain("damaged");
    const told = await verify(...args, "--json");
    expect([told.code, told.json()]).toMatchObject([1, { ok: false, reason }]);
  }
  writeFileSync(path, "not an archive");
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining("damaged: do not rely on this backup") });
  expect((await verify("--json")).json()).toMatchObject({ ok: false, reason: "damaged" });
});
