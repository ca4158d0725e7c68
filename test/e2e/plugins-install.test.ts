import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace, type Place } from "../harness/gateway-process.ts";

function fixture(): Place {
  const place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure("{\n  // mine\n}\n");
  return place;
}

const npm = (place: Place, folder: string, ...args: string[]) =>
  spawnSync("npm", args, { cwd: join(place.home, folder), env: { ...place.env, npm_config_offline: "true" }, encoding: "utf8", timeout: 25_000 });

describe("openclaw plugins create", () => {
  test.each(["tool", "hook", "command", "channel"])("a new %s passes its own npm test, without a network, and loads when it is installed", (template) => {
    const place = fixture();
    expect(place.cli("plugins", "create", `./my-${template}`, "--template", template)).toMatchObject({ code: 0 });
    const tested = npm(place, `my-${template}`, "test", "--silent");
    expect([tested.status, tested.stdout]).toEqual([0, expect.stringMatching(/pass [1-9]\d*[\s\S]*fail 0/)]);
    expect(place.cli("plugins", "install", `./my-${template}`)).toMatchObject({ code: 0 });
    expect(place.cli("plugins", "list").stdout).toMatch(new RegExp(`^my-${template} +not checked`, "m"));
    expect(place.cli("plugins", "doctor")).toMatchObject({ stdout: expect.not.stringContaining("cannot be loaded") });
  });

  test("JavaScript, an id and a name of one's own", () => {
    const place = fixture();
    const made = JSON.parse(place.cli("plugins", "create", "./x", "--js", "--id", "voice-notes", "--name", "Voice", "--json").stdout) as {
      id: string;
      files: string[];
    };
    expect(made).toMatchObject({ ok: true, id: "voice-notes", template: "tool" });
    expect(made.files).toContain("index.js");
    expect(readFileSync(join(place.home, "x/openclaw.plugin.json"), "utf8")).toContain('"name": "Voice"');
    expect(npm(place, "x", "test", "--silent").status).toBe(0);
  });

  test("a folder that has something in it stays as it is; one with a plugin only gets its link again", () => {
    const place = fixture();
    place.configure("{}");
    expect(place.cli("plugins", "create", "./Not an id")).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be the id") });
    expect(place.cli("plugins", "create", ".", "--id", "mine")).toMatchObject({ code: 1, stderr: expect.stringContaining("is not empty") });
    place.cli("plugins", "create", "./mine");
    const before = readFileSync(join(place.home, "mine/index.ts"), "utf8");
    expect(place.cli("plugins", "create", "./mine", "--template", "hook").stdout).toContain("only");
    expect(readFileSync(join(place.home, "mine/index.ts"), "utf8")).toBe(before);
  });

  test("a template that is not there names those that are", () => {
    expect(fixture().cli("plugins", "create", "./x", "--template", "tol").stderr).toContain('did you mean "tool"?; available: tool, hook, command, channel');
  });
});

describe("openclaw plugins install", () => {
  test("an archive made with npm pack is installed, listed and removed; the file keeps its comments", () => {
    const place = fixture();
    place.cli("plugins", "create", "./notes");
    expect(npm(place, "notes", "pack", "--silent").status).toBe(0);
    const archive = readdirSync(join(place.home, "notes")).find((name) => name.endsWith(".tgz"))!;
    const installed = place.cli("plugins", "install", `./notes/${archive}`);
    expect(installed).toMatchObject({ code: 0 });
    expect(installed.stdout).toContain("full access");
    expect(installed.stdout).toMatch(/^sha512-/m);
    expect(installed.stderr).toContain("unpacking");
    expect(readFileSync(place.configPath, "utf8")).toContain("// mine");
    expect(place.cli("plugins", "info", "notes").stdout).toMatch(/installed +archive/);
    expect(place.cli("plugins", "update", "--all").stdout).toContain("notes: skipped");
    expect(place.cli("plugins", "uninstall", "notes")).toMatchObject({ code: 1, stderr: expect.stringContaining("--force") });
    expect(JSON.parse(place.cli("plugins", "uninstall", "notes", "--force", "--json").stdout)).toMatchObject({
      ok: true,
      deleted: join(place.stateDir, "extensions/notes"),
    });
    expect(existsSync(join(place.stateDir, "extensions/notes"))).toBe(false);
    expect(place.cli("plugins", "list").stdout).toBe("No plugins installed\n");
  });

  test("plugins that are installed and on are asked before, those that are off are not", () => {
    const place = fixture();
    const guard = `export default (api) => api.on("before_install", ({ targetName }) =>
      targetName === "evil" ? { block: true, blockReason: "not here" } : { findings: [{ severity: "warn", message: "looked at by the guard" }] });`;
    for (const id of ["guard", "evil", "fine"]) {
      const folder = join(place.home, id);
      mkdirSync(folder);
      writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id, configSchema: { type: "object" } }));
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name: id, version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }));
      writeFileSync(join(folder, "index.js"), id === "guard" ? guard : "export default () => {};");
    }
    expect(place.cli("plugins", "install", "./guard")).toMatchObject({ code: 0 });
    expect(place.cli("plugins", "install", "./evil")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the plugin guard blocks the install of evil: not here"),
    });
    expect(existsSync(join(place.stateDir, "extensions/evil"))).toBe(false);
    const { ok, scan } = JSON.parse(place.cli("plugins", "install", "./fine", "--json").stdout) as { ok: boolean; scan: { findings: { message: string }[] } };
    expect([ok, scan.findings.map(({ message }) => message)]).toEqual([true, ["looked at by the guard"]]);
    place.cli("plugins", "disable", "guard");
    expect(place.cli("plugins", "install", "./evil")).toMatchObject({ code: 0 });
  });

  test.each([[[]], [["--link"]]])("a plugin that needs a setting is installed %j, and the command that makes the setting is printed and works", (flags) => {
    const place = fixture();
    const folder = join(place.home, "voice-notes");
    mkdirSync(folder);
    const schema = { type: "object", additionalProperties: false, required: ["apiKey"], properties: { apiKey: { type: "string" } } };
    writeFileSync(join(folder, "openclaw.plugin.json"), JSON.stringify({ id: "voice-notes", configSchema: schema }));
    writeFileSync(join(folder, "index.js"), "export default () => {};");
    const { code, stdout } = place.cli("plugins", "install", "./voice-notes", ...flags);
    const command = "openclaw config set plugins.entries.voice-notes.config.apiKey <value>";
    expect([code, stdout]).toEqual([0, expect.stringContaining(`voice-notes needs configuration; run: ${command}\n`)]);
    expect(place.cli("plugins", "list").stdout).toMatch(/^voice-notes +needs configuration /m);
    const doctor = place.cli("plugins", "doctor");
    expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining(`voice-notes: needs configuration; run: ${command}`)]);
    expect(place.cli(...command.replace("<value>", "secret").split(" ").slice(1))).toMatchObject({ code: 0 });
    expect(place.cli("plugins", "list").stdout).toMatch(/^voice-notes +not checked /m);
  });

  test("--force keeps the plugin that works when the new one cannot be loaded, and says how to have it all the same", () => {
    const place = fixture();
    const write = (folder: string, code: string): void => {
      mkdirSync(join(place.home, folder));
      writeFileSync(join(place.home, folder, "openclaw.plugin.json"), JSON.stringify({ id: "voice", configSchema: { type: "object" } }));
      writeFileSync(join(place.home, folder, "index.js"), code);
    };
    write("one", "export default () => {};");
    write("two", `throw new Error("no legs");`);
    write("three", "export default () => { void 3; };");
    const installed = (): string => readFileSync(join(place.stateDir, "extensions/voice/index.js"), "utf8");
    expect(place.cli("plugins", "install", "./one")).toMatchObject({ code: 0 });
    const refused = place.cli("plugins", "install", "./two", "--force");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/voice was not replaced.*no legs.*openclaw plugins uninstall voice --force && .*openclaw plugins install \.\/two/),
    ]);
    expect(installed()).toBe("export default () => {};");
    expect(place.cli("plugins", "install", "./three", "--force")).toMatchObject({ code: 0, stdout: expect.stringContaining("replaced voice") });
    expect(installed()).toContain("void 3");
  });

  test("--json is data and nothing else; a refusal is an exit code and a reason", () => {
    const place = fixture();
    place.cli("plugins", "create", "./notes");
    const { stdout, stderr } = place.cli("plugins", "install", "./notes", "--json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      ids: ["notes"],
      record: { source: "path" },
      scan: { status: "ok" },
      warning: expect.stringContaining("full access"),
    });
    expect(place.cli("plugins", "install", "./notes")).toMatchObject({ code: 1, stderr: expect.stringContaining("plugin already exists") });
    expect(place.cli("plugins", "install")).toMatchObject({ code: 1, stderr: expect.stringContaining("expected a folder, an archive or an npm package") });
    expect(place.cli("plugins", "update")).toMatchObject({ code: 1 });
    expect(place.cli("plugins", "uninstall", "nobody", "--force")).toMatchObject({ code: 1, stderr: expect.stringContaining("plugin not found") });
  });

  test("a linked plugin runs from its folder in a gateway", async () => {
    const place = fixture();
    place.configure(`{ gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" } } }\n`);
    place.cli("plugins", "create", "./notes");
    expect(place.cli("plugins", "install", "./notes", "--link").stdout).toContain("linked notes");
    await using gateway = await place.gateway();
    await gateway.waitFor("1 plugins loaded");
    expect(existsSync(join(place.stateDir, "extensions/notes"))).toBe(false);
  });
});
