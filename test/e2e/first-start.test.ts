import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { makeFakeUi } from "../harness/fake-ui.ts";
import { makePlace, ROOT } from "../harness/gateway-process.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Runs the gateway at a terminal of its own until it has said everything that is wanted, ends it with Ctrl-C, and gives what it said. */
async function runAtTerminal(env: Record<string, string | undefined>, cwd: string, ...wanted: readonly RegExp[]): Promise<string> {
  const line = [process.execPath, join(ROOT, "bin/openclaw"), "gateway", "--allow-unconfigured", "--port", "0"].map(quoted).join(" ");
  const child = spawn("script", ["-qfec", `exec ${line}`, "/dev/null"], { env: { ...env, SHELL: "/bin/sh" }, cwd, stdio: ["pipe", "pipe", "inherit"] });
  const { promise, resolve } = Promise.withResolvers<string>();
  let said = "";
  let ending = false;
  child.stdout.on("data", (chunk) => {
    said += stripVTControlCharacters(String(chunk));
    if (ending || !wanted.every((text) => text.test(said))) return;
    ending = true;
    child.stdin.write("\u0003");
  });
  child.once("close", () => resolve(said));
  return promise;
}

test("a user who starts the gateway at a terminal gets a link that logs in once, the model that answers and how to stop; the link is in no file", async (context) => {
  context.skip(spawnSync("script", ["--version"]).status !== 0, "needs script of util-linux");
  const place = makePlace();
  using ui = makeFakeUi();
  place.configure(
    JSON.stringify({
      gateway: { mode: "local", controlUi: { root: ui.root, basePath: "/claw" } },
      agents: { defaults: { model: { primary: "builtin/offline" } } },
    }),
  );
  const said = await runAtTerminal(place.env, place.home, /#code=\S+/, /Model +\S+\s+\S+/, /Stop +Ctrl\+C/);
  expect(said).toMatch(/Open +http:\/\/127\.0\.0\.1:\d+\/claw\/#code=\S+ +works once/);
  expect(said).toMatch(/Model +Built-in offline model +use another: \S+openclaw configure --section model/);
  const link = new URL(/http:\S+#code=\S+/.exec(said)![0]);
  expect(link.pathname).toBe("/claw/");
  const code = link.hash.replace("#code=", "");
  const files = readdirSync(place.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.some(({ name }) => name.endsWith(".log"))).toBe(true);
  for (const file of files) expect([file.name, readFileSync(join(file.parentPath, file.name)).includes(code)]).toEqual([file.name, false]);
});

test("a program that starts the gateway gets the log alone", async () => {
  const place = makePlace();
  await using gateway = await place.gateway();
  expect(gateway.output()).toMatch(/ready on \S+/);
  expect(gateway.output()).not.toMatch(/#code=|Ctrl\+C/);
});

test("a second start at a terminal says where the first one runs and how to open or stop it", async (context) => {
  context.skip(spawnSync("script", ["--version"]).status !== 0, "needs script of util-linux");
  const place = makePlace();
  await using gateway = await place.gateway();
  const line = [process.execPath, join(ROOT, "bin/openclaw"), "gateway", "--open", "--allow-unconfigured"].map(quoted).join(" ");
  const { stdout, status } = spawnSync("script", ["-qfec", `exec ${line}`, "/dev/null"], { env: { ...place.env, SHELL: "/bin/sh" }, encoding: "utf8" });
  const said = stripVTControlCharacters(stdout);
  expect(said).toMatch(/A gateway is already running at http:\/\/127\.0\.0\.1:\d+ \(process \d+/);
  expect(said).toMatch(/Open +\S*openclaw dashboard\s+Stop +\S*openclaw gateway stop/);
  expect([status, gateway.child.exitCode]).toEqual([1, null]);
});
