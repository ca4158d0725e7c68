import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

/** A plugin that leaves a file behind when its code is loaded. */
function install(place: Place, id: string, code: string, manifest: object = {}): void {
  const folder = join(place.stateDir, "extensions", id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object" }, ...manifest }));
  const mark = `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(join(place.home, `loaded-${id}`))}, "x");\n`;
  writeFileSync(join(folder, "index.ts"), mark + code);
}

const wasLoaded = (place: Place, id: string): boolean => existsSync(join(place.home, `loaded-${id}`));

function fixture(): Place {
  const place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure(`{ gateway: { port: 4711 } }\n`);
  return place;
}

const NOTES = `
export default function register(api: { [member: string]: any }) {
  setInterval(() => {}, 1000); // Does not keep the command from ending.
  api.registerCli(({ program, config, logger, workspaceDir }: any) => {
    const notes = program.command("notes").description("keeps notes");
    notes.command("add").argument("<text>").option("--times <n>", "how often", Number, 1).action(async (text: string, { times }: { times: number }) => {
      await null;
      logger.info("adding");
      console.log(JSON.stringify({ text, times, port: config.gateway.port, workspace: typeof workspaceDir }));
    });
    notes.command("fail").action(async () => { throw new Error("out of paper"); });
    notes.command("code").action(() => { process.exitCode = 7; });
    notes.command("lose").action(async () => {
      void Promise.reject(new Error("lost"));
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    notes.command("sessions").action(async () => { await api.enqueueNextTurnInjection({ sessionKey: "main", text: "hello" }); });
  }, { commands: ["notes"] });
}`;

test("a plugin's command gets its arguments, the configuration and a logger; its exit code is the program's", () => {
  const place = fixture();
  install(place, "notes", NOTES);
  const { code, stdout, stderr } = place.cli("notes", "add", "a b", "--times", "3");
  expect([code, stderr]).toEqual([0, "[notes] adding\n"]);
  expect(JSON.parse(stdout)).toEqual({ text: "a b", times: 3, port: 4711, workspace: "string" });
  expect(place.cli("notes", "code").code).toBe(7);
  const help = place.cli("notes", "add", "--help");
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("openclaw notes add [options] <text>")]);
});

test.each([
  ["throws", ["notes", "fail"], 'error: the command "notes" of the plugin notes failed: out of paper\n'],
  ["leaves an error that nothing catches", ["notes", "lose"], /error: notes: an unhandled promise rejection: lost \(.*index\.ts:\d+\)\n/],
  ["wants what only the gateway has", ["notes", "sessions"], /the plugin notes failed: a plugin's command runs outside the gateway/],
  ["was given what it does not take", ["notes", "add", "x", "--loud"], /unknown option '--loud'/],
  ["was not given what it needs", ["notes", "add"], /missing required argument 'text'/],
])("a command that %s ends with 1 and says so", (_what, args, message) => {
  const place = fixture();
  install(place, "notes", NOTES);
  const { code, stderr } = place.cli(...args);
  expect([code, stderr]).toEqual([1, typeof message === "string" ? message : expect.stringMatching(message)]);
});

test("commands in manifests are in the help, without loading code; only the plugin that has a command is loaded for it", () => {
  const place = fixture();
  install(place, "notes", NOTES, { cliCommands: [{ name: "notes", description: "keeps\u001b[2J notes", hasSubcommands: true }] });
  install(place, "other", "export default () => {}", { activation: { onCommands: ["other"] } });
  install(place, "silent", "export default () => {}");
  for (const args of [["--help"], ["help"], []])
    expect(place.cli(...args).stdout).toMatch(/Plugin commands\n {2}notes {2}keeps\\u001b\[2J notes \(plugin notes\)\n {2}other {2}Plugin other\n/);
  expect(place.cli("nots").stderr).toContain('did you mean "notes"?');
  expect(["notes", "other", "silent"].map((id) => wasLoaded(place, id))).toEqual([false, false, true]);
  expect(place.cli("notes", "code").code).toBe(7);
  expect(["notes", "other"].map((id) => wasLoaded(place, id))).toEqual([true, false]);
  expect(JSON.parse(place.cli("plugins", "info", "notes", "--json").stdout)).toMatchObject({ plugin: { cliCommands: ["notes"] } });
});

test("what is built in comes first, and what is off is not loaded", () => {
  const place = fixture();
  install(
    place,
    "greedy",
    `export default (api: any) => api.registerCli(({ program }: any) => program.command("config").action(() => console.log("mine")), { commands: ["config"] })`,
  );
  expect(place.cli("config", "file").stdout).toContain(place.configPath);
  place.configure(`{ plugins: { entries: { greedy: { enabled: false } } } }`);
  const unknown = place.cli("mine");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('unknown command "mine"')]);
  expect(wasLoaded(place, "greedy")).toBe(false);
});

test("a plugin that cannot be loaded is named, and stands in no other's way", () => {
  const place = fixture();
  install(place, "broken", "export default function ( {");
  install(place, "notes", NOTES);
  expect(place.cli("notes", "code")).toMatchObject({ code: 7, stderr: expect.stringContaining("broken: load failed") });
  const unknown = place.cli("nobody");
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringMatching(/unknown command "nobody"; these plugins may provide it but could not be loaded: broken \(.*index\.ts:\d+/),
  ]);
});

test("a registrar that fails, or that does not keep its manifest's word, is an error that names the plugin", () => {
  const place = fixture();
  install(place, "fails", `export default (api: any) => api.registerCli(() => { throw new Error("no commands today"); }, { commands: ["fails"] })`);
  install(place, "liar", "export default () => {}", { cliCommands: [{ name: "liar", description: "d", hasSubcommands: false }] });
  expect(place.cli("fails")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: the plugin fails could not add its commands: no commands today \(.*index\.ts\)/),
  });
  expect(place.cli("liar")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the command "liar" belongs to a plugin that does not provide it: liar'),
  });
});

test("of two plugins with one command the first has it; commands may stand below another", () => {
  const place = fixture();
  const says = (word: string): string =>
    `export default (api: any) => api.registerCli(({ program }: any) => void program.command("say").action(() => console.log("${word}")))`;
  install(place, "a", says("first"));
  install(place, "b", says("second"));
  install(
    place,
    "deep",
    `export default (api: any) => api.registerCli(({ program }: any) => void program.command("down").action(() => console.log("deep")), { parentPath: ["well"], commands: ["down"] })`,
  );
  expect(place.cli("say")).toMatchObject({ code: 0, stdout: "first\n" });
  expect(place.cli("well", "down")).toMatchObject({ code: 0, stdout: "deep\n" });
});
