import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

let place: Place;

/** Writes a plugin; below the state folder it counts as installed. */
function plugin(id: string, code: string, { folder = join(place.stateDir, "extensions"), manifest = {} }: { folder?: string; manifest?: object } = {}): void {
  mkdirSync(join(folder, id), { recursive: true });
  writeFileSync(join(folder, id, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object" }, ...manifest }));
  writeFileSync(join(folder, id, "package.json"), JSON.stringify({ name: id, version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }));
  writeFileSync(join(folder, id, "index.js"), code);
}

const NOTHING = "export default () => {};\n";
const EXITS = `\nprocess.exit(0);\n${NOTHING}`;
const WAITS = `await new Promise(() => {});\n${NOTHING}`;
const LOOPS = `\nfor (;;) {}\n${NOTHING}`;
/** What no guard inside of the process can prevent. */
const DIES = `import { execSync } from "node:child_process";\nexecSync("kill -9 " + process.pid);\n${NOTHING}`;

const at = (id: string, line: number): string => `${join(place.stateDir, "extensions", id, "index.js")}:${line}`;

interface DoctorReport {
  readonly plugins: readonly { readonly id: string; readonly error: string }[];
}

beforeEach(() => {
  place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure(`{ gateway: { watchdog: { limitSeconds: 2 } } }\n`);
  plugin("good", NOTHING);
});

test("a plugin that exits or waits for ever at import keeps no command from its work, and none claims success that it had not", () => {
  plugin("exits", EXITS);
  plugin("waits", WAITS);
  plugin("fresh", NOTHING, { folder: place.home });
  const installed = place.cli("plugins", "install", "./fresh");
  expect([installed.code, installed.stdout]).toEqual([0, expect.stringContaining("installed fresh 1.0.0")]);
  expect(installed.stderr).toContain(`the plugin exits was not checked, because it cannot be loaded: load: process.exit(0) is refused`);
  expect(installed.stderr).toContain("the plugin waits was not checked");
  expect(existsSync(join(place.stateDir, "extensions/fresh/index.js"))).toBe(true);
  const unknown = place.cli("nosuchcommand");
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/unknown command "nosuchcommand"; these plugins may provide it but could not be loaded: exits .*waits/),
  ]);
  expect(unknown.stderr).toContain(at("exits", 2));
  expect(place.cli("plugins", "update", "--all")).toMatchObject({ code: 0, stdout: expect.stringContaining("fresh: skipped") });
});

test("plugins doctor names the plugins that exit, wait, block or kill their process, with the line, and calls no other broken", () => {
  for (const [id, code] of Object.entries({ exits: EXITS, waits: WAITS, loops: LOOPS, dies: DIES })) plugin(id, code);
  plugin("throws", `export default () => {\n\n  throw new Error("no legs");\n};\n`);
  const { plugins } = JSON.parse(place.cli("plugins", "doctor", "--json").stdout) as DoctorReport;
  const errors = Object.fromEntries(plugins.map(({ id, error }) => [id, error]));
  expect(Object.keys(errors).sort()).toEqual(["dies", "exits", "loops", "throws", "waits"]);
  expect(errors["exits"]).toContain(`process.exit(0) is refused: a plugin cannot end the process that loads it`);
  expect(errors["exits"]).toContain(at("exits", 2));
  expect(errors["waits"]).toContain("its import never finishes");
  expect(errors["loops"]).toMatch(/the plugin loops has blocked this process for \d+ s in its import/);
  expect(errors["loops"]).toContain(at("loops", 2));
  expect(errors["dies"]).toContain("the process that loaded it exited with a signal");
  expect(errors["throws"]).toBe(`register: no legs (${at("throws", 3)})`);
});

test("a command that needs the code of a plugin that blocks ends with an error that names it", () => {
  plugin("loops", LOOPS, { manifest: { cliCommands: [{ name: "turn", description: "d", hasSubcommands: false }] } });
  const { code, stderr } = place.cli("turn");
  expect(code).not.toBe(0);
  expect(stderr).toContain("the plugin loops has blocked this process");
  expect(stderr).toContain(at("loops", 2));
});

test("a plugin's command that waits for ever fails and is named; one that exits on purpose has its own exit code", () => {
  const code = `export default (api) => api.registerCli(({ program }) => {
    program.command("stuck").action(() => new Promise(() => {}));
    program.command("leave").action(() => process.exit(5));
    program.command("disposed").action(() => { process.exitCode = 4; });
    api.lifecycle.onDispose(() => new Promise(() => {}));
  }, { commands: ["stuck", "leave", "disposed"] });`;
  plugin("cmd", code);
  expect(place.cli("stuck")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the command "stuck" of the plugin cmd failed: it never finished'),
  });
  expect(place.cli("leave").code).toBe(5);
  expect(place.cli("disposed").code).toBe(4);
});

describe("handlers that are asked before an install", () => {
  test.each([
    ["exits", "process.exit(0)", /the plugin guard blocks the install of fresh: .*guard/],
    ["kills its process", "process.getBuiltinModule('node:child_process').execSync('kill -9 ' + process.pid)", /a plugin did not respond/],
    ["blocks", "for (;;) {}", /a plugin did not respond: the plugin guard has blocked this process/],
  ])("one that %s refuses", (_what, code, message) => {
    plugin("guard", `export default (api) => api.on("before_install", () => { ${code}; });`);
    plugin("fresh", NOTHING, { folder: place.home });
    expect(place.cli("plugins", "install", "./fresh")).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect(existsSync(join(place.stateDir, "extensions/fresh"))).toBe(false);
  });
});

test("the last line of plugins doctor counts what stands above it", () => {
  place.configure(`{ plugins: { allow: ["good"] } }\n`);
  expect(place.cli("plugins", "doctor").stdout).toBe("No plugin issues detected.\n");
  plugin("good", NOTHING, { manifest: { cliCommands: "no", enabledByDefault: "yes" } });
  const warned = place.cli("plugins", "doctor");
  expect([warned.code, warned.stdout]).toEqual([
    0,
    expect.stringMatching(/"cliCommands": expected a list.*\n.*"enabledByDefault": expected true or false.*\n2 warnings\n$/),
  ]);
  place.configure(`{ plugins: { allow: ["good", "throws"] } }\n`);
  plugin("throws", `export default () => { throw new Error("no legs"); };`);
  const failed = place.cli("plugins", "doctor");
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/1 error, 2 warnings; 1 of 2 plugins failed to load\n$/)]);
  expect(place.cli("plugins", "doctor", "good").code).toBe(0);
});
