import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../config/index.ts";
import { explainFile } from "./explain-file.ts";

/** A home with a configuration; the gateway is started in the folder that tests run in. */
function setup(config: object, env: Readonly<Record<string, string>> = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "own-places-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [state, file] = [join(home, "state"), join(home, "conf/openclaw.json")];
  mkdirSync(join(home, "conf"));
  mkdirSync(join(home, "ws"));
  writeFileSync(file, JSON.stringify({ agents: { list: [{ id: "main", workspace: join(home, "ws"), tools: { fs: { outside: "allow" } } }] }, ...config }));
  const all = { HOME: home, OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: file, PATH: "/usr/bin", ...env };
  const loaded = loadConfig({ env: all, osHome: home, cwd: process.cwd() });
  const explain = (path: string) => explainFile({ loaded, agentId: "main", path });
  return { home, state, explain, write: (path: string) => explain(path).write, read: (path: string) => explain(path).read };
}

const program = join(import.meta.dirname, "../../..");

test("files that the next start would read are not written, although they are not there yet", () => {
  const { home, state, write } = setup({}, { OPENCLAW_BUNDLED_PLUGINS_DIR: "/srv/bundled" });
  const paths = [
    join(process.cwd(), ".env"),
    join(state, ".env"),
    join(home, "ws/.openclaw/extensions/x/index.js"),
    "/srv/bundled/x/index.js",
    join(dirname(program), "node_modules/x/index.js"),
    "/node_modules/x/index.js",
    join(home, "node_modules/x/index.js"),
  ];
  for (const path of paths) expect(write(path), path).toMatchObject({ decision: "deny", why: expect.stringContaining("is sealed") as string });
  const missing = setup({ tools: { $include: "./later/policy.json5" } });
  expect(missing.write(join(missing.home, "conf/later/policy.json5"))).toMatchObject({ decision: "deny" });
  expect(write(join(home, "ws/.env")).decision, "the workspace stays free").toBe("allow");
  expect(write(join(home, "ws/node_modules/x/index.js")).decision).toBe("allow");
});

test("code and credentials that the configuration names are sealed, relative paths in both folders that they may count from", () => {
  const { home, write, read } = setup({
    plugins: { load: { paths: ["./relative-plugin", "~/plugins"] } },
    hooks: { transformsDir: "~/transforms", internal: { load: { extraDirs: ["~/hooks"] } } },
    gateway: { controlUi: { root: "~/page" }, tls: { certPath: "~/tls/cert.pem", keyPath: "~/tls/key.pem" } },
    models: { providers: { openai: { baseUrl: "http://127.0.0.1:1", apiKey: { source: "file", path: "relative.key" }, models: [] } } },
    channels: { telegram: { tokenFile: "~/telegram.token" }, googlechat: { serviceAccountFile: "~/googlechat.json" } },
  });
  for (const folder of [join(process.cwd(), "relative-plugin"), join(home, "plugins"), join(home, "transforms"), join(home, "hooks"), join(home, "page")])
    expect(write(join(folder, "index.js")), folder).toMatchObject({ decision: "deny" });
  expect(write(join(home, "tls/cert.pem")).decision).toBe("deny");
  const channels = ["telegram.token", "googlechat.json"].map((name) => join(home, name));
  for (const path of [join(process.cwd(), "relative.key"), join(home, "conf/relative.key"), join(home, "tls/key.pem"), ...channels])
    expect(read(path), path).toMatchObject({ decision: "deny" });
});

test("the session index at another place is sealed as it is in the state folder", () => {
  const { home, write, read } = setup({ session: { store: "~/lists/{agentId}.json" } });
  const path = join(home, "lists/main.json");
  expect([write(path).decision, read(path).decision]).toEqual(["deny", "deny"]);
  expect(write(join(home, "lists/other.txt")).decision).toBe("allow");
});

test("hooks that are loaded out of a workspace are sealed, also before there are any", () => {
  const { home, write } = setup({ hooks: { internal: { handlers: [{ event: "command", module: "old/log.js" }] } } });
  expect([write(join(home, "ws/hooks/x/handler.ts")).decision, write(join(home, "ws/old/log.js")).decision]).toEqual(["deny", "deny"]);
  expect(write(join(home, "ws/old/other.js")).decision).toBe("allow");
});

test("a workspace with plugins keeps its modules: they are imported by those", () => {
  const { home, write } = setup({});
  mkdirSync(join(home, "ws/.openclaw/extensions"), { recursive: true });
  expect(write(join(home, "ws/node_modules/x/index.js")).decision).toBe("deny");
});

test("programs are started from PATH and beside the running one, so those folders are not written", () => {
  const { home, write, read } = setup({}, { PATH: `relative:${join(tmpdir(), "some-tools")}:/` });
  for (const path of [
    join(tmpdir(), "some-tools/git"),
    join(dirname(process.execPath), "x"),
    join(dirname(dirname(process.execPath)), "lib/node_modules/x.js"),
  ]) {
    expect(write(path), path).toMatchObject({ decision: "deny" });
    expect(read(path).decision, path).toBe("allow");
  }
  expect(write(join(home, "relative/git")).decision).toBe("allow");
});

test("the log is read, but not written: where the configuration puts it, or in its folder", () => {
  const { home, write, read } = setup({ logging: { file: "~/log/gateway.log" } });
  for (const name of ["log/gateway.log", "log/gateway.log.1"]) {
    expect(write(join(home, name)), name).toMatchObject({ decision: "deny", why: expect.stringContaining("is the gateway's log") as string });
    expect(read(join(home, name)).decision, name).toBe("allow");
  }
  expect(write(join(home, "log/other.log")).decision).toBe("allow");
});
