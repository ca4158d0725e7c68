/** `openclaw hooks`: which hooks there are, switching and installing them. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readPage } from "../harness/docs-page.ts";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";
import { killAt } from "../harness/program.ts";
import { openRegistry, type Registry } from "../harness/registry.ts";

let place: Place;
let registry: Registry;
beforeAll(async () => {
  registry = await openRegistry();
});
afterAll(() => registry[Symbol.asyncDispose]());
beforeEach(() => {
  place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure("{\n  // mine\n}\n");
});

function write(path: string, text: string): string {
  mkdirSync(dirname(join(place.home, path)), { recursive: true });
  writeFileSync(join(place.home, path), text);
  return join(place.home, path);
}
const HOOK = (name: string, metadata = '{"openclaw":{"events":["command:new"]}}'): string =>
  `---\nname: ${name}\ndescription: Greets\nmetadata: ${metadata}\n---\n`;
const HANDLER = "export default (event) => event.messages.push('Hello');\n";
function hook(folder: string, name: string, metadata?: string): void {
  write(`${folder}/HOOK.md`, HOOK(name, metadata));
  write(`${folder}/handler.js`, HANDLER);
}
const json = (...args: string[]): Readonly<Record<string, unknown>> => JSON.parse(place.cli(...args, "--json").stdout) as Readonly<Record<string, unknown>>;
const config = (): string => readFileSync(place.configPath, "utf8");
const internal = (): Readonly<Record<string, unknown>> => json("config", "get", "hooks.internal");

test("hooks are listed with their state, and what is wrong with files is said", () => {
  hook(".openclaw-state/hooks/greeter", "greeter", '{"openclaw":{"events":["command:new"],"requires":{"bins":["no-such-program"]}}}');
  write(".openclaw-state/hooks/broken/HOOK.md", "# no front matter\n");
  const { stdout } = place.cli("hooks", "list");
  expect(stdout).toMatch(/^boot-md +ready +openclaw-bundled +gateway:startup/m);
  expect(stdout).toMatch(/^greeter +not ready +openclaw-managed/m);
  expect(stdout).toContain("broken/HOOK.md: no front matter");
  expect(stdout).toContain("Hooks are off.");
  const listed = json("hooks", "list") as { hooks: readonly Readonly<Record<string, unknown>>[] };
  expect(listed).toMatchObject({ managedHooksDir: join(place.stateDir, "hooks"), workspaceDir: expect.any(String) });
  expect(listed.hooks.map(({ name }) => name)).toEqual(["boot-md", "bootstrap-extra-files", "command-logger", "greeter", "session-memory"]);
  expect(listed.hooks[3]).toMatchObject({
    eligible: false,
    disabled: false,
    missing: { bins: ["no-such-program"] },
    managedByPlugin: false,
    events: ["command:new"],
  });
  expect((json("hooks", "list", "--eligible") as typeof listed).hooks).toHaveLength(4);
  expect(place.cli("hooks", "info", "greeter").stdout).toMatch(/why +needs the program no-such-program/);
  expect(json("hooks", "info", "greeter")).toMatchObject({ hookKey: "greeter", requirements: { bins: ["no-such-program"] } });
  expect(place.cli("hooks", "check")).toMatchObject({ code: 1, stdout: expect.stringContaining("4 of 5 hooks are ready") });
  expect(json("hooks", "check")).toMatchObject({ total: 5, eligible: 4, notEligible: 1 });
  expect(place.cli("hooks", "info", "nope")).toMatchObject({ code: 1, stderr: expect.stringContaining('hook "nope" not found') });
});

test("a hook is turned on and off in the configuration, which keeps its comments", () => {
  const on = place.cli("hooks", "enable", "command-logger");
  expect(on.stdout).toContain("This also turned on these hooks: boot-md, bootstrap-extra-files, session-memory.");
  expect(internal()).toEqual({ enabled: true, entries: { "command-logger": { enabled: true } } });
  expect(config()).toContain("// mine");
  expect(place.cli("hooks", "disable", "command-logger").code).toBe(0);
  expect(internal()).toEqual({ enabled: true, entries: { "command-logger": { enabled: false } } });
  expect(place.cli("hooks", "list").stdout).toMatch(/^command-logger +off/m);
  hook(".openclaw-state/hooks/greeter", "greeter", '{"openclaw":{"events":["command:new"],"requires":{"env":["NOT_THERE"]}}}');
  expect(place.cli("hooks", "enable", "greeter")).toMatchObject({ code: 1, stderr: expect.stringContaining("needs the environment variable NOT_THERE") });
});

test("the commands of the documentation work as they stand there", () => {
  const bin = join(place.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "openclaw"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/openclaw")}" "$@"\n`, { mode: 0o755 });
  const env = { ...place.env, PATH: `${bin}${delimiter}${place.env["PATH"]}` };
  const blocks = readPage("docs/automation/hooks.md").blocks.filter(({ language }) => language === "sh");
  expect(blocks).toHaveLength(2);
  for (const { text } of blocks) {
    const { status, stderr } = spawnSync("sh", ["-e"], { input: text, env, cwd: place.home, encoding: "utf8", timeout: 40_000 });
    expect([status, stderr.includes("error")], stderr).toEqual([0, false]);
  }
  expect(json("hooks", "info", "greeter")).toMatchObject({ eligible: true, events: ["command:new"], emoji: "👋" });
});

describe("openclaw hooks install", () => {
  test("a folder is copied and turned on; the same again needs --force", () => {
    hook("greeter", "greeter");
    expect(json("hooks", "install", "./greeter", "--dry-run")).toMatchObject({ ok: true, dryRun: true, hooks: ["greeter"] });
    expect(existsSync(join(place.stateDir, "hooks/greeter"))).toBe(false);
    const installed = place.cli("hooks", "install", "./greeter");
    expect(installed).toMatchObject({ code: 0, stdout: expect.stringContaining("full access") });
    expect(readFileSync(join(place.stateDir, "hooks/greeter/handler.js"), "utf8")).toBe(HANDLER);
    expect(internal()).toMatchObject({ enabled: true, entries: { greeter: { enabled: true } }, installs: { greeter: { source: "path", hooks: ["greeter"] } } });
    expect(place.cli("hooks", "list").stdout).toMatch(/^greeter +not checked +openclaw-managed/m);
    expect(place.cli("hooks", "install", "./greeter")).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });
    expect(place.cli("hooks", "install", "./greeter", "--force")).toMatchObject({ code: 0 });
    expect(place.cli("hooks", "update", "greeter").stdout).toContain("greeter: skipped");
  });

  test("a linked folder is used where it is", () => {
    hook("greeter", "greeter");
    expect(place.cli("hooks", "install", "-l", "./greeter").code).toBe(0);
    expect(internal()).toMatchObject({ load: { extraDirs: [join(place.home, "greeter")] } });
    expect(json("hooks", "info", "greeter")).toMatchObject({ source: "openclaw-extra", eligible: true });
  });

  test("what is no hook, or leads out of its package, is refused and nothing is changed", () => {
    write("empty/README.md", "nothing");
    expect(place.cli("hooks", "install", "./empty").stderr).toContain("this is not a hook");
    write("mute/HOOK.md", "---\nname: mute\n---\n");
    write("mute/handler.js", HANDLER);
    expect(place.cli("hooks", "install", "./mute").stderr).toContain("the hook mute cannot be used");
    hook("outer", "outer");
    write("pack/package.json", JSON.stringify({ name: "pack", openclaw: { hooks: ["../outer"] } }));
    expect(place.cli("hooks", "install", "./pack")).toMatchObject({ code: 1, stderr: expect.stringMatching(/is outside the package|does not exist/) });
    write("evil/package.json", JSON.stringify({ name: "..", openclaw: { hooks: ["a"] } }));
    hook("evil/a", "a");
    expect(place.cli("hooks", "install", "./evil").stderr).toContain("cannot be the name of a folder");
    expect([config(), readdirSync(place.stateDir).includes("hooks")]).toEqual(["{\n  // mine\n}\n", false]);
  });

  test("a package of the registry is installed, runs nothing, and is updated", async () => {
    const publish = (version: string, text: string): Promise<void> => {
      const pkg = { name: "@acme/pack", version, scripts: { postinstall: "touch ../ran" }, openclaw: { hooks: ["hooks/a", "hooks/b"] } };
      const files = {
        "package.json": JSON.stringify(pkg),
        "hooks/a/HOOK.md": HOOK("a"),
        "hooks/a/handler.js": text,
        "hooks/b/HOOK.md": HOOK("b"),
        "hooks/b/index.js": text,
      };
      return registry.publish("@acme/pack", { version, entries: Object.entries(files).map(([path, content]) => ({ name: `package/${path}`, content })) });
    };
    await publish("1.0.0", HANDLER);
    Object.assign(place.env, registry.env(join(place.home, "cache")));
    const installed = await place.start("hooks", "install", "@acme/pack");
    expect(installed).toMatchObject({ code: 0, stdout: expect.stringContaining('has a "postinstall" script; it was not run') });
    expect(internal()).toMatchObject({
      entries: { a: { enabled: true }, b: { enabled: true } },
      installs: {
        acme__pack: { source: "npm", spec: "@acme/pack", resolvedVersion: "1.0.0", integrity: expect.stringContaining("sha512-"), hooks: ["a", "b"] },
      },
    });
    expect((await place.start("hooks", "update", "acme__pack")).stdout).toContain("acme__pack: unchanged");
    await publish("1.1.0", `${HANDLER}// newer\n`);
    expect((await place.start("hooks", "update", "--all")).stdout).toContain("acme__pack: updated (1.0.0 → 1.1.0)");
    expect(readFileSync(join(place.stateDir, "hooks/acme__pack/hooks/a/handler.js"), "utf8")).toContain("newer");
    expect(place.cli("hooks", "update", "nope").stderr).toContain("no install of");
  });

  test.each(["plugins.change.begun", "plugins.change.aside", "plugins.change.swapped", "plugins.change.recorded"])(
    "killed at %s, the next one finds the old hooks or the new ones",
    (failpoint) => {
      hook("greeter", "greeter");
      expect(place.cli("hooks", "install", "./greeter").code).toBe(0);
      write("greeter/handler.js", `${HANDLER}// newer\n`);
      killAt(failpoint, place, ["hooks", "install", "./greeter", "--force"]);
      expect(place.cli("hooks", "update", "--all").code).toBe(0);
      const isNew = failpoint === "plugins.change.recorded";
      expect(readFileSync(join(place.stateDir, "hooks/greeter/handler.js"), "utf8").includes("newer")).toBe(isNew);
      expect(readdirSync(join(place.stateDir, "hooks"))).toEqual(["greeter"]);
      expect(place.cli("hooks", "list").stdout).toMatch(/^greeter +not checked/m);
    },
  );
});
