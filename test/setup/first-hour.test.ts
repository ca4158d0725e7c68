/** What a new user sees and pastes: every command runs as it is printed, and what is shown is what is used. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test, vi } from "vitest";
import { setupHome, type SetupHome } from "./place.ts";

// Every command is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

const ROOT = resolve(import.meta.dirname, "../..");
const COMMAND = /(?:\S*\/)?openclaw(?: --profile \w+| --dev)?(?: [a-z]+){1,3}/g;

/** Runs each printed command with `--help`, in a shell, where it was printed. Gives those that did not run. */
function broken(text: string, home: SetupHome, cwd: string): readonly string[] {
  const printed = [...new Set(text.match(COMMAND) ?? [])];
  expect(printed).not.toEqual([]);
  return printed.filter((line) => spawnSync("/bin/sh", ["-c", `${line} --help`], { cwd, env: home.env }).status !== 0);
}

test("commands in the help, the setup, the status and the doctor run as they are printed, from any folder", async () => {
  const home = setupHome();
  for (const args of [
    ["onboard", "--non-interactive", "--accept-risk", "--skip-health"],
    ["status"],
    ["gateway", "status", "--no-probe"],
    ["channels", "list"],
  ]) {
    const { stdout, stderr } = await home.run(args);
    expect(broken(`${stdout}${stderr}`, home, home.home)).toEqual([]);
  }
  expect((await home.run(["--help"])).stdout).toContain(`${ROOT}/bin/openclaw [--profile <name> | --dev] <command>`);
  expect((await home.run(["plugins", "list", "--help"])).stdout).toContain(`  ${ROOT}/bin/openclaw plugins list --json`);
  const { stdout } = await home.run(["doctor", "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: { todo?: string }[] };
  for (const { todo = "" } of checks) expect(todo).not.toMatch(/(?<![/\w])openclaw [a-z]/);
});

test("in the checkout's own folder commands are printed as bin/openclaw, and an error names them too", () => {
  const home = setupHome();
  const run = (...args: string[]) => spawnSync(join(ROOT, "bin/openclaw"), args, { cwd: ROOT, env: home.env, encoding: "utf8" });
  const { stdout } = run("status");
  expect(stdout).toContain("(start it with: bin/openclaw gateway)");
  expect(broken(stdout, home, ROOT)).toEqual([]);
  expect(run("--profile", "work", "health").stderr).toContain("start it with: bin/openclaw --profile work gateway");
});

test("the port that is shown and written is the one that the gateway uses", async () => {
  const home = setupHome();
  const { stdout } = await home.run(["onboard", "--non-interactive", "--accept-risk", "--skip-health"], { OPENCLAW_GATEWAY_PORT: "19555" });
  expect(stdout).toContain("port 19555, loopback");
  expect(home.config()).toMatchObject({ gateway: { port: 19555 } });
});

test("with a state folder elsewhere, the first files go into its own workspace and the usual one is left alone", async () => {
  const home = setupHome();
  const usual = join(home.home, ".openclaw/workspace");
  mkdirSync(usual, { recursive: true });
  expect((await home.onboard("--skip-health")).stdout).toContain(`workspace  ${join(home.stateDir, "workspace")}`);
  expect(readdirSync(join(home.stateDir, "workspace"))).toContain("AGENTS.md");
  expect(readdirSync(usual)).toEqual([]);
});

test("a profile keeps its documented workspace", async () => {
  const home = setupHome();
  const env = { OPENCLAW_STATE_DIR: "", OPENCLAW_CONFIG_PATH: "" };
  const { stdout } = await home.run(["--profile", "work", "onboard", "--non-interactive", "--accept-risk", "--skip-health"], env);
  expect(stdout).toContain(join(home.home, ".openclaw/workspace-work"));
  expect(existsSync(join(home.home, ".openclaw/workspace-work/AGENTS.md"))).toBe(true);
});

test("channels add --help lists the flags of channels that are here", async () => {
  const { stdout } = await setupHome().run(["channels", "add", "--help"]);
  expect(stdout).toContain("One of discord, echo, googlechat, imessage, irc, mattermost, signal, slack, telegram, whatsapp");
  expect(stdout).toMatch(/--token <text> .*telegram: the bot's token/);
  expect(stdout).not.toMatch(/Tlon|Matrix|--ship|--homeserver/);
});

test("the page is served with the command that runs here, and never with a path of this machine", async () => {
  const home = setupHome();
  await using gateway = await home.gateway();
  const settings = (await (await fetch(new URL("/__openclaw/control-ui-config.json", gateway.url))).json()) as { readonly program: string };
  expect(settings.program).toBe("bin/openclaw");
  const login = await fetch(new URL("/__openclaw/login", gateway.url), {
    method: "POST",
    headers: { "content-type": "application/json", origin: new URL(gateway.url!).origin },
    body: JSON.stringify({ code: "no-such-code" }),
  });
  expect(await login.text()).not.toContain(ROOT);
});
