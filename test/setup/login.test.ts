/** Logins on the way: a person at a terminal, a browser, and an authorization server that stands where the providers' are. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startOAuthServer, type OAuthServer, type OAuthServerOptions } from "../fakes/oauth-server/index.ts";
import { programArguments } from "../harness/program.ts";
import { openPseudoTerminal, type PseudoTerminal } from "../harness/pseudo-terminal.ts";
import { fakePrograms } from "./fake-programs.ts";
import { BUILD, setupHome, type SetupHome } from "./place.ts";

vi.setConfig({ testTimeout: 90_000 });

const ENTER = "\r";
const CTRL_C = "\u0003";
const CLIENT = "our-client";

/** Where the providers are, and what stands there now. */
const ROUTES: Readonly<Record<string, string>> = {
  "https://claude.ai/oauth/authorize": "/authorize",
  "https://console.anthropic.com/v1/oauth/token": "/token",
  "https://chat.qwen.ai/api/v1/oauth2/device/code": "/device",
  "https://chat.qwen.ai/api/v1/oauth2/token": "/token",
};

/** Loaded before the program: its requests to the providers go to the server of the test, and to nobody else. */
const REROUTE = `
  const routes = JSON.parse(process.env.TEST_ROUTES);
  const real = globalThis.fetch;
  globalThis.fetch = (url, init) => {
    const [from] = Object.keys(routes).filter((start) => String(url).startsWith(start));
    if (from === undefined) return Promise.reject(new Error("no route to " + url));
    return real(String(url).replace(from, routes[from]), init);
  };
`;

interface Scene {
  readonly home: SetupHome;
  readonly server: OAuthServer;
  readonly terminal: PseudoTerminal;
  /** Where a link of a provider leads here. */
  reroute(url: string): string;
}

interface SceneOptions extends OAuthServerOptions {
  /** A browser runs on this machine. */
  readonly browser?: boolean;
}

const routeOf = (server: OAuthServer, url: string): string => {
  const from = Object.keys(ROUTES).find((start) => url.startsWith(start))!;
  return url.replace(from, `${server.url}${ROUTES[from]}`);
};

async function onboard(choice: string, { browser = false, ...options }: SceneOptions, ...args: readonly string[]): Promise<Scene> {
  const server = await startOAuthServer(options);
  const home = setupHome();
  const preload = join(home.home, "reroute.mjs");
  writeFileSync(preload, REROUTE);
  const routes = Object.fromEntries(Object.entries(ROUTES).map(([from, path]) => [from, `${server.url}${path}`]));
  // A browser: it opens the page and goes where that sends it.
  const opener = `exec '${process.execPath}' --import '${preload}' -e 'fetch(process.argv[1]).then((page) => page.text())' "$1"`;
  const { path } = fakePrograms(home.home, { "xdg-open": opener });
  const terminal = await openPseudoTerminal({
    line: [process.execPath, "--import", preload, ...programArguments(BUILD), "onboard", "--auth-choice", choice, ...args],
    env: { ...home.env, PATH: path, TEST_ROUTES: JSON.stringify(routes), OPENCLAW_OAUTH_CLIENT_ID: CLIENT, ...(browser ? { DISPLAY: ":0" } : {}) },
    cwd: home.home,
    columns: 110,
    rows: 50,
  });
  onTestFinished(async () => {
    await terminal[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  await terminal.waitFor("Continue?");
  terminal.send("y");
  await terminal.waitFor("Setup mode");
  terminal.send(ENTER);
  return { home, server, terminal, reroute: (url) => routeOf(server, url) };
}

const QUIET = ["--skip-daemon", "--skip-skills", "--skip-health"];

function expectNoSecrets({ server, terminal }: Scene): void {
  for (const secret of server.secrets.filter((text) => !text.startsWith("code-"))) expect(terminal.output()).not.toContain(secret);
}

async function takeSomethingElse(terminal: PseudoTerminal): Promise<void> {
  await terminal.waitFor("Which model do you want to use?");
  terminal.send("without a key");
  await terminal.waitFor("Try without a key");
  terminal.send(ENTER);
}

describe("a login with a device code", () => {
  test("shows where to type what, waits, and is stored when everything is answered", async () => {
    const scene = await onboard("qwen-portal", { polls: ["authorization_pending"] }, ...QUIET);
    const { home, server, terminal } = scene;
    await terminal.waitFor("ABCD-EFGH");
    expect(terminal.screen()).toContain("https://login.example.test/device");
    await terminal.waitFor("Which channels");
    expect([home.text(), existsSync(home.stateDir)]).toEqual([undefined, false]);
    terminal.send(ENTER);
    await terminal.waitFor("Which hooks");
    terminal.send(ENTER);
    await declineStart(terminal);
    await terminal.waitFor(/exit=0/);
    expect(server.requests[0]).toMatchObject({ path: "/device", fields: { client_id: CLIENT, code_challenge_method: "S256" } });
    expect(home.profiles()).toMatchObject({ "qwen-portal:default": { type: "oauth", provider: "qwen-portal", access: expect.stringMatching(/^access-/) } });
    expect(home.config()).toMatchObject({
      agents: { defaults: { model: { primary: expect.stringMatching(/^qwen-portal\//) } } },
      auth: { profiles: { "qwen-portal:default": { provider: "qwen-portal", mode: "oauth" } } },
    });
    expectNoSecrets(scene);
  });

  test("that the provider refuses is reported, and another choice is asked for", async () => {
    const { home, terminal } = await onboard("qwen-portal", { polls: ["access_denied"] }, ...QUIET, "--skip-channels");
    await terminal.waitFor(/not logged in[\s\S]*access_denied/);
    await takeSomethingElse(terminal);
    await terminal.waitFor("Which hooks");
    terminal.send(ENTER);
    await declineStart(terminal);
    await terminal.waitFor(/exit=0/);
    expect(home.profiles()).toEqual({});
    expect(home.text()).not.toContain("qwen");
  });

  test("that nobody makes in time is reported; leaving then changes nothing", async () => {
    const polls = Array.from({ length: 20 }, () => "authorization_pending");
    const { home, terminal } = await onboard("qwen-portal", { polls, deviceExpiresIn: 1 }, ...QUIET);
    await terminal.waitFor(/has expired/);
    await terminal.waitFor("Which model do you want to use?");
    terminal.send(CTRL_C);
    await terminal.waitFor(/exit=0 icanon/);
    expect([home.text(), existsSync(home.stateDir)]).toEqual([undefined, false]);
  });

  test("is left with Ctrl-C while it waits: nothing was written", async () => {
    const polls = Array.from({ length: 50 }, () => "authorization_pending");
    const { home, terminal } = await onboard("qwen-portal", { polls }, ...QUIET);
    await terminal.waitFor("ABCD-EFGH");
    // What the key does while no question is open, to the program alone: the shell that runs it is to tell how it ended.
    process.kill(terminal.pid(), "SIGINT");
    await terminal.waitFor(/exit=0 icanon/);
    expect([home.text(), existsSync(home.stateDir)]).toEqual([undefined, false]);
  });
});

describe("a login in the browser", () => {
  test("opens it, takes its return with the proof, and goes on with the questions", async () => {
    const scene = await onboard("oauth", { browser: true, email: "me@example.test" }, ...QUIET);
    const { home, server, terminal } = scene;
    await terminal.waitFor("Which channels");
    terminal.send(ENTER);
    await terminal.waitFor("Which hooks");
    terminal.send(ENTER);
    await declineStart(terminal);
    await terminal.waitFor(/exit=0/);
    expect(server.requests).toMatchObject([{ path: "/token", fields: { grant_type: "authorization_code", client_id: CLIENT } }]);
    expect(home.profiles()).toMatchObject({ "anthropic:me@example.test": { type: "oauth", provider: "anthropic", email: "me@example.test" } });
    expect(home.config()).toMatchObject({ agents: { defaults: { model: { primary: expect.stringMatching(/^anthropic\//) } } } });
    expectNoSecrets(scene);
  });

  test("elsewhere: the address it ended at is pasted", async () => {
    const { home, terminal, reroute } = await onboard("oauth", {}, ...QUIET);
    await terminal.waitFor("Paste the URL");
    const [link] = /https:\/\/claude\.ai\/oauth\/authorize\S+/.exec(terminal.output())!;
    const page = await fetch(reroute(link), { redirect: "manual" });
    terminal.send(`${page.headers.get("location")}${ENTER}`);
    await terminal.waitFor("Which channels");
    terminal.send(ENTER);
    await terminal.waitFor("Which hooks");
    terminal.send(ENTER);
    await declineStart(terminal);
    await terminal.waitFor(/exit=0/);
    expect(Object.keys(home.profiles())).toEqual(["anthropic:default"]);
  });

  test("that is refused there is reported, and another choice is asked for", async () => {
    const { home, terminal } = await onboard("oauth", { browser: true, denies: "access_denied" }, ...QUIET, "--skip-channels");
    await terminal.waitFor(/not logged in[\s\S]*access_denied/);
    await takeSomethingElse(terminal);
    await terminal.waitFor("Which hooks");
    terminal.send(ENTER);
    await declineStart(terminal);
    await terminal.waitFor(/exit=0/);
    expect(home.profiles()).toEqual({});
  });

  test("is left with Ctrl-C where the address is pasted: nothing was written", async () => {
    const { home, terminal } = await onboard("oauth", {}, ...QUIET);
    await terminal.waitFor("Paste the URL");
    terminal.send(CTRL_C);
    await terminal.waitFor(/exit=0 icanon/);
    expect([home.text(), existsSync(home.stateDir)]).toEqual([undefined, false]);
  });
});

/** The setup ends with an offer to run the gateway. */
async function declineStart(terminal: PseudoTerminal): Promise<void> {
  await terminal.waitFor("Start the gateway now?");
  terminal.send("n");
}

test("nobody is asked: a login has to be there already", async () => {
  const home = setupHome();
  const { code, stderr } = await home.onboard("--skip-health", "--auth-choice", "qwen-portal");
  expect([code, home.text()]).toEqual([1, undefined]);
  expect(stderr).toContain("openclaw models auth login --provider qwen-portal");
});
