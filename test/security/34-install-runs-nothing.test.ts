import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tgzOf } from "../harness/archives.ts";
import { makeInstallPlace, pluginEntries, pluginFiles, type InstallPlace } from "../harness/install-place.ts";
import { openRegistry, type Registry } from "../harness/registry.ts";
import { loadInstall } from "../../src/plugins/index.ts";

let registry: Registry;
beforeAll(async () => void (registry = await openRegistry()));
afterAll(async () => registry[Symbol.asyncDispose]());

const EVENTS = ["preinstall", "install", "postinstall", "prepare", "prepublish", "prepack", "postpack", "preuninstall", "postuninstall"];

/** Scripts that leave a mark when anything runs them. */
const scripts = (mark: string): Record<string, string> => Object.fromEntries(EVENTS.map((event) => [event, `echo ${event} >> ${mark}`]));
/** Code that leaves a mark when anything imports it. */
const marking = (mark: string): string =>
  `import { appendFileSync } from "node:fs";\nappendFileSync(${JSON.stringify(mark)}, "imported\\n");\nexport default function register() {}\n`;

function houses(): { place: InstallPlace; mark: string } {
  const place = makeInstallPlace();
  const env = { ...place.deps.env, ...registry.env(join(place.home, "cache")) };
  return {
    place: {
      ...place,
      deps: { ...place.deps, env },
      install: async (spec, more) => (await loadInstall()).installPlugin({ spec, ...more }, { ...place.deps, env }),
    },
    mark: join(place.home, "mark"),
  };
}

async function publishVoice(name: string, mark: string, version = "1.0.0"): Promise<void> {
  const dependency = { name: `${name}-needs`, version: "1.0.0", scripts: scripts(mark) };
  await registry.publish(`${name}-needs`, {
    version: "1.0.0",
    entries: [
      { name: "package/package.json", content: JSON.stringify(dependency) },
      { name: "package/index.js", content: marking(mark) },
    ],
    facts: { scripts: dependency.scripts, hasInstallScript: true },
  });
  const pkg = { name, scripts: scripts(mark), dependencies: { [`${name}-needs`]: "^1.0.0" } };
  const entries = pluginEntries("voice", { version, pkg, code: marking(mark) });
  await registry.publish(name, {
    version,
    entries: [...entries, { name: "package/.npmrc", content: `ignore-scripts=false\nscript-shell=/bin/sh\n` }],
    facts: pkg,
  });
}

test("a package from the registry, its dependencies and their scripts: nothing runs, everything is there, integrity is recorded", async () => {
  const { place, mark } = houses();
  await publishVoice("voice-a", mark);
  const { scan, record } = await place.install("voice-a");
  expect(existsSync(mark)).toBe(false);
  expect(existsSync(join(place.extensions, "voice/node_modules/voice-a-needs/index.js"))).toBe(true);
  expect(existsSync(join(place.extensions, "voice/.npmrc"))).toBe(false);
  expect(record).toMatchObject({
    source: "npm",
    spec: "voice-a",
    resolvedName: "voice-a",
    resolvedVersion: "1.0.0",
    resolvedSpec: "voice-a@1.0.0",
    integrity: expect.stringMatching(/^sha512-/),
    shasum: expect.any(String),
  });
  expect(scan.findings.map(({ ruleId }) => ruleId)).toEqual(expect.arrayContaining(["lifecycle-script", "dependency-script", "package-manager-settings"]));
});

test("a folder, an archive, a link, an update and an uninstall run nothing either", async () => {
  const { place, mark } = houses();
  const files = pluginFiles("voice", { pkg: { scripts: scripts(mark) }, code: marking(mark) });
  place.write("mine", files);
  place.write("", { "voice.tgz": await tgzOf(pluginEntries("voice", { pkg: { scripts: scripts(mark) }, code: marking(mark) })) });
  const { uninstallPlugin, updatePlugins } = await loadInstall();
  await place.install("./mine");
  await place.install("./voice.tgz", { force: true });
  await uninstallPlugin({ id: "voice", force: true }, place.deps);
  await place.install("./mine", { link: true });
  await uninstallPlugin({ id: "voice", force: true }, place.deps);
  await publishVoice("voice-b", mark);
  await place.install("voice-b");
  await publishVoice("voice-b", mark, "1.1.0");
  expect(await updatePlugins({}, place.deps)).toEqual([{ id: "voice", status: "updated", from: "1.0.0", to: "1.1.0" }]);
  expect(existsSync(mark)).toBe(false);
});

test("bytes that are not the announced ones are not installed", async () => {
  const { place, mark } = houses();
  await publishVoice("voice-c", mark);
  registry.tamper("voice-c", "1.0.0", await tgzOf(pluginEntries("voice", { code: "// other" })));
  await expect(place.install("voice-c")).rejects.toThrow(/integrity|EINTEGRITY|announced/i);
  expect(place.installed()).toEqual([]);
});

test("the same version with other bytes is asked about, and left alone without an answer", async () => {
  const { place, mark } = houses();
  await publishVoice("voice-d", mark);
  await place.install("voice-d");
  const before = readFileSync(join(place.extensions, "voice/index.js"), "utf8");
  await registry.publish("voice-d", {
    version: "1.0.0",
    entries: pluginEntries("voice", { pkg: { name: "voice-d" }, code: "// changed\nexport default function register() {}\n" }),
    facts: {},
  });
  const { updatePlugins } = await loadInstall();
  const asked: string[] = [];
  const answering = (yes: boolean) => ({ ...place.deps, confirm: async (question: string) => (asked.push(question), yes) });
  expect(await updatePlugins({ id: "voice" }, answering(false))).toMatchObject([{ status: "skipped", reason: expect.stringContaining("integrity") }]);
  expect(readFileSync(join(place.extensions, "voice/index.js"), "utf8")).toBe(before);
  expect(await updatePlugins({ id: "voice" }, answering(true))).toMatchObject([{ status: "updated" }]);
  expect(asked).toHaveLength(2);
  expect(readFileSync(join(place.extensions, "voice/index.js"), "utf8")).toContain("// changed");
});

test("an update of the same version changes nothing, unless the plugin is gone from the disk: then it is put back", async () => {
  const { place, mark } = houses();
  await publishVoice("voice-u", mark);
  await place.install("voice-u");
  const { updatePlugins } = await loadInstall();
  expect(await updatePlugins({ id: "voice" }, place.deps)).toEqual([{ id: "voice", status: "unchanged", from: "1.0.0", to: "1.0.0" }]);
  rmSync(join(place.extensions, "voice"), { recursive: true });
  const reason = expect.stringContaining("was missing");
  expect(await updatePlugins({ id: "voice", dryRun: true }, place.deps)).toMatchObject([{ status: "would update", reason }]);
  expect(place.installed()).not.toContain("voice");
  expect(await updatePlugins({ id: "voice" }, place.deps)).toMatchObject([{ status: "updated", reason }]);
  expect(existsSync(join(place.extensions, "voice/index.js"))).toBe(true);
});

test("an update leaves a linked plugin as it is, and says when its folder is gone", async () => {
  const { place } = houses();
  const mine = place.write("mine", pluginFiles("voice"));
  await place.install("./mine", { link: true });
  const { updatePlugins } = await loadInstall();
  expect(await updatePlugins({}, place.deps)).toMatchObject([{ id: "voice", status: "skipped", reason: `it is linked: ${mine} is used as it is` }]);
  rmSync(mine, { recursive: true });
  expect(await updatePlugins({}, place.deps)).toMatchObject([{ id: "voice", status: "failed", reason: expect.stringContaining(`${mine} is missing`) }]);
});

test("a pinned plugin stays with its version; one that became another plugin is not put in its place", async () => {
  const { place, mark } = houses();
  await publishVoice("voice-e", mark);
  await place.install("voice-e", { pin: true });
  await publishVoice("voice-e", mark, "2.0.0");
  const { updatePlugins } = await loadInstall();
  expect(await updatePlugins({ id: "voice" }, place.deps)).toMatchObject([{ status: "unchanged", from: "1.0.0" }]);
  await registry.publish("voice-f", { version: "1.0.0", entries: pluginEntries("sound", { pkg: { name: "voice-f" } }) });
  await place.install("voice-f");
  await registry.publish("voice-f", { version: "1.1.0", entries: pluginEntries("voice", { pkg: { name: "voice-f" }, version: "1.1.0" }) });
  expect(await updatePlugins({ id: "sound" }, place.deps)).toMatchObject([{ status: "failed", reason: expect.stringContaining("not sound") }]);
  expect(readFileSync(join(place.extensions, "voice/package.json"), "utf8")).toContain("voice-e");
});

test("the environment of an install does not make npm load code", async () => {
  const { place, mark } = houses();
  await publishVoice("voice-g", mark);
  const hook = join(place.home, "hook.cjs");
  writeFileSync(hook, `require("node:fs").appendFileSync(${JSON.stringify(mark)}, "node options\\n");\n`);
  const { installPlugin } = await loadInstall();
  await installPlugin(
    { spec: "voice-g" },
    { ...place.deps, env: { ...place.deps.env, NODE_OPTIONS: `--require ${hook}`, npm_config_ignore_scripts: "false" } },
  );
  expect(existsSync(mark)).toBe(false);
});

/** An npm that writes down how it was called and hands out a file of its own, with whatever it says about it. */
function fakeNpm(place: InstallPlace, tarball: string, announced: object): { readonly env: Record<string, string | undefined>; readonly log: string } {
  const bin = join(place.home, "bin");
  const log = join(place.home, "npm-calls");
  mkdirSync(bin, { recursive: true });
  const code = `const fs = require("node:fs"); const args = process.argv.slice(2);
    fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args, env: process.env.npm_config_ignore_scripts, options: process.env.NODE_OPTIONS }) + "\\n");
    if (args[0] === "pack") { fs.copyFileSync(${JSON.stringify(tarball)}, require("node:path").join(args[args.indexOf("--pack-destination") + 1], "p.tgz"));
      process.stdout.write(JSON.stringify([{ filename: "p.tgz", name: "voice", version: "1.0.0", ...${JSON.stringify(announced)} }])); }`;
  writeFileSync(join(bin, "npm"), `#!/bin/sh\nexec ${process.execPath} ${join(bin, "npm.cjs")} "$@"\n`);
  writeFileSync(join(bin, "npm.cjs"), code);
  chmodSync(join(bin, "npm"), 0o755);
  return { env: { ...place.deps.env, PATH: `${bin}:${process.env["PATH"]}`, NODE_OPTIONS: "--title=canary" }, log };
}

test("what an npm announces and what it brings have to be the same, whether or not npm looks itself", async () => {
  const { hashesOf } = await import("../../src/plugins/install/npm.ts");
  for (const wrong of [{ integrity: `sha512-${"A".repeat(86)}==` }, { shasum: "0".repeat(40) }]) {
    const place = makeInstallPlace();
    place.write("", { "voice.tgz": await tgzOf(pluginEntries("voice")) });
    const { installPlugin } = await loadInstall();
    const right = hashesOf(join(place.home, "voice.tgz"));
    const lying = fakeNpm(place, join(place.home, "voice.tgz"), { ...right, ...wrong });
    await expect(installPlugin({ spec: "voice" }, { ...place.deps, env: lying.env })).rejects.toThrow(/announced/);
    expect(place.installed()).toEqual([]);
    const honest = fakeNpm(place, join(place.home, "voice.tgz"), right);
    expect((await installPlugin({ spec: "voice" }, { ...place.deps, env: honest.env })).record).toMatchObject(right);
  }
});

test("npm is instructed to run no script each time, on its command line and in its environment, and gets no options for Node", async () => {
  const place = makeInstallPlace();
  place.write("", { "voice.tgz": await tgzOf(pluginEntries("voice", { pkg: { dependencies: { needed: "1.0.0" } } })) });
  const { env, log } = fakeNpm(place, join(place.home, "voice.tgz"), {});
  const { installPlugin } = await loadInstall();
  await installPlugin({ spec: "voice" }, { ...place.deps, env }).catch(() => undefined);
  const calls = readFileSync(log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { args: string[]; env: string; options?: string });
  expect(calls.map(({ args }) => args[0])).toEqual(["pack", "install"]);
  for (const { args, env: said, options } of calls) expect([args.includes("--ignore-scripts=true"), said, options]).toEqual([true, "true", undefined]);
});
