import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { backup } from "../../src/cli/commands/groups.ts";
import { loadBackup } from "../../src/store/index.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { makePlace } from "../harness/gateway-process.ts";

test("verify: a backup without its passphrase could not be opened, which is not damage; a changed one is damaged", { timeout: 60_000 }, async () => {
  const { home, stateDir, run } = openCommandLine<Record<string, unknown>>("backup", backup);
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, "notes.json"), "{}");
  const { createBackup } = await loadBackup();
  const made = { stateDir, into: join(home, "out"), form: "tar.gz", configFiles: [], madeBy: "0.1.0", clock: systemClock } as const;
  const { path } = await createBackup({ ...made, passphrase: "right" });
  for (const name of ["right", "wrong"]) writeFileSync(join(home, name), `${name}\n`);
  const verify = (...args: readonly string[]) => run("verify", path, ...args);

  expect(await verify("--passphrase-file", "right")).toMatchObject({ code: 0, out: expect.stringContaining("intact") });
  for (const [args, reason] of [
    [[], "passphrase_missing"],
    [["--passphrase-file", "wrong"], "passphrase_wrong"],
  ] as const) {
    const shown = await verify(...args);
    expect(shown).toMatchObject({ code: 1, out: expect.stringContaining("cannot be opened") });
    expect(shown.out).not.toContain("damaged");
    const asJson = await verify(...args, "--json");
    expect([asJson.code, asJson.json()]).toMatchObject([1, { ok: false, reason }]);
  }
  writeFileSync(path, "not an archive");
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining("damaged: do not rely on this backup") });
  expect((await verify("--json")).json()).toMatchObject({ ok: false, reason: "damaged" });
});

test("workspaces and a configuration outside of the state folder are in the backup, and come back to their places", { timeout: 60_000 }, async () => {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true, maxRetries: 3 }));
  const folders = ["first", "second"].map((name) => join(place.home, name));
  const config = {
    gateway: { mode: "local" },
    agents: { defaults: { workspace: folders[0] }, list: [{ id: "main" }, { id: "other", workspace: folders[1] }] },
  };
  place.configure(JSON.stringify(config));
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.stateDir, "notes.json"), "{}");
  for (const folder of folders) {
    mkdirSync(join(folder, "deep"), { recursive: true });
    writeFileSync(join(folder, "deep", "note.md"), folder);
  }
  const without = place.cli("backup", "create", "--output", place.home);
  expect(without.stdout).toContain(`Skipped ${folders[0]} (workspace: include it with --include-workspace)`);
  const { path } = JSON.parse(place.cli("backup", "create", "--output", place.home, "--include-workspace", "--json").stdout) as { path: string };
  expect(place.cli("backup", "verify", path)).toMatchObject({ code: 0 });

  for (const gone of [place.stateDir, place.configPath, folders[0]!]) rmSync(gone, { recursive: true });
  writeFileSync(join(folders[1]!, "newer.md"), "kept");
  const restored = place.cli("backup", "restore", path, "--yes");
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`Restored the configuration to ${place.configPath}`) });
  expect(JSON.parse(readFileSync(place.configPath, "utf8"))).toEqual(config);
  expect(restored.stdout).toContain(`Restored the workspace ${folders[0]}`);
  expect(readFileSync(join(folders[0]!, "deep", "note.md"), "utf8")).toBe(folders[0]);
  // A workspace that is in use is not written over.
  const kept = /The workspace .*second is in use and was not changed. Its files from the backup are in (.+)/.exec(restored.stdout)?.[1];
  expect(readFileSync(join(kept!, "deep", "note.md"), "utf8")).toBe(folders[1]);
  expect(readFileSync(join(folders[1]!, "newer.md"), "utf8")).toBe("kept");
});

test("verify: an archive that is not compressed, and one of a newer program, are not called damaged", { timeout: 60_000 }, async () => {
  const { home, stateDir, run } = openCommandLine<Record<string, unknown>>("backup", backup);
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, "notes.json"), "{}");
  const { createBackup } = await loadBackup();
  const made = { stateDir, into: join(home, "out"), configFiles: [], madeBy: "0.1.0", clock: systemClock } as const;
  const { path } = await createBackup({ ...made, form: "tar.gz" });
  const plain = path.replace(/\.gz$/, "");
  writeFileSync(plain, gunzipSync(readFileSync(path)));
  expect(await run("verify", plain)).toMatchObject({ code: 1, out: expect.stringMatching(/compress it with gzip[^]*not checked/) });
  rmSync(path);
  const folder = (await createBackup({ ...made, form: "folder" })).path;
  const manifest = join(folder, "manifest.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"version": 2', '"version": 9'));
  expect(await run("verify", folder)).toMatchObject({ code: 1, out: expect.stringMatching(/version 9[^]*update it first[^]*not checked/) });
});

test("restore: where the gateway that runs takes no restart, nothing is unpacked and nobody waits", { timeout: 60_000 }, async () => {
  const { home, stateDir, lock, run } = openCommandLine("backup", backup, { config: "{ commands: { restart: false } }" });
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, "notes.json"), "{}");
  const { createBackup } = await loadBackup();
  const { path } = await createBackup({ stateDir, into: join(home, "out"), form: "tar.gz", configFiles: [], madeBy: "0.1.0", clock: systemClock });
  lock("http://127.0.0.1:9");
  const refused = await run("restore", path, "--yes");
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("commands.restart is false") });
  expect(readdirSync(dirname(stateDir)).filter((name) => name.includes(".restore-"))).toEqual([]);
});
