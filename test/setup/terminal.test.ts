import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startModelServer } from "../fakes/model-server/index.ts";
import { programArguments } from "../harness/program.ts";
import { openPseudoTerminal, type PseudoTerminal } from "../harness/pseudo-terminal.ts";
import { fakePrograms, systemctl } from "./fake-programs.ts";
import { answers, BUILD, REFUSES, setupHome, type SetupHome } from "./place.ts";

vi.setConfig({ testTimeout: 90_000 });

const KEY = "sk-CANARY-0123456789abcdefghijkl";
const ENTER = "\r";
const CTRL_C = "\u0003";
const DOWN = "\u001b[B";
const SPACE = " ";

async function open(home: SetupHome, ...args: readonly string[]): Promise<PseudoTerminal> {
  const line = [process.execPath, ...programArguments(BUILD), ...args];
  const { path } = fakePrograms(home.home, { systemctl: systemctl() });
  const terminal = await openPseudoTerminal({ line, env: { ...home.env, PATH: path }, cwd: home.home, columns: 110, rows: 50 });
  onTestFinished(() => terminal[Symbol.asyncDispose]());
  return terminal;
}

/** Waits for a question and answers it. */
async function answer(terminal: PseudoTerminal, question: string | RegExp, keys: string): Promise<void> {
  await terminal.waitFor(question);
  terminal.send(keys);
}

async function acceptRisk(terminal: PseudoTerminal): Promise<void> {
  await answer(terminal, "Continue?", "y");
  await answer(terminal, "Setup mode", ENTER);
}

describe("a person at a terminal", () => {
  test("goes through QuickStart: a key that is refused is asked for again, nothing is written before the end, the key is never shown", async () => {
    await using server = await startModelServer(REFUSES);
    const home = setupHome();
    const terminal = await open(home, "onboard");
    await acceptRisk(terminal);
    await answer(terminal, "Which model do you want to use?", "custom");
    await answer(terminal, "Custom provider", ENTER);
    await answer(terminal, "Server URL", `${server.url}${ENTER}`);
    await answer(terminal, "empty if none", `sk-wrong-0123456789abcdef${ENTER}`);
    await answer(terminal, "Model id", `large${ENTER}`);
    await answer(terminal, "Which API", ENTER);
    await terminal.waitFor("rejected it");
    server.play(answers("openai-completions"));
    await answer(terminal, /API key\s*\n/, `${KEY}${ENTER}`);
    await terminal.waitFor("Which channels");
    expect([home.text(), existsSync(home.stateDir)]).toEqual([undefined, false]);
    terminal.send(ENTER);
    await answer(terminal, "Which hooks", ENTER);
    await answer(terminal, "as a service?", "n");
    await answer(terminal, "Start the gateway now?", "n");
    await terminal.waitFor(/exit=0/);
    expect(terminal.output()).not.toContain(KEY);
    expect(terminal.screen()).toMatch(/openclaw dashboard[\s\S]*openclaw tui/);
    const provider = `custom-127-0-0-1-${new URL(server.url).port}`;
    expect(home.profiles()).toEqual({ [`${provider}:default`]: { type: "api_key", provider, key: KEY } });
    expect(home.config()).toMatchObject({ gateway: { mode: "local", port: 18789 }, agents: { defaults: { model: { primary: `${provider}/large` } } } });
  });

  test("leaves with Ctrl-C in the middle: nothing was written, and the exit code is 0", async () => {
    const home = setupHome();
    const terminal = await open(home, "onboard");
    await acceptRisk(terminal);
    await answer(terminal, "Which model do you want to use?", CTRL_C);
    await terminal.waitFor(/exit=0 icanon/);
    expect(terminal.screen()).toContain("were not saved");
    expect([home.text(), existsSync(home.stateDir)]).toEqual([undefined, false]);
  });

  test("does not accept the risk: nothing is done", async () => {
    const home = setupHome();
    const terminal = await open(home, "onboard");
    await answer(terminal, "Continue?", "n");
    await terminal.waitFor(/exit=0/);
    expect(home.text()).toBeUndefined();
  });

  test("is killed in the middle: nothing was written", async () => {
    const home = setupHome();
    home.configure(`{ gateway: { mode: "local" } }`);
    const terminal = await open(home, "onboard");
    await acceptRisk(terminal);
    await terminal.waitFor("Existing configuration");
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.waitFor(/exit=137/);
    expect(home.text()).toBe(`{ gateway: { mode: "local" } }`);
  });

  test("sets a channel up with the plugin's own questions", async () => {
    const home = setupHome();
    home.configure(`{\n  // mine\n  gateway: { mode: "local", auth: { token: "a-token-of-mine-0123456789" } },\n}\n`);
    const terminal = await open(home, "configure", "--section", "channels");
    await terminal.waitFor("Which channels");
    const rows = terminal
      .screen()
      .split("\n")
      .filter((line) => /[◻◼]/.test(line));
    const place = rows.findIndex((line) => line.includes("Telegram"));
    terminal.send(`${DOWN.repeat(place)}${SPACE}${ENTER}`);
    await terminal.waitFor("@BotFather");
    await answer(terminal, "Bot token", `nonsense${ENTER}`);
    await terminal.waitFor("not a bot token");
    terminal.send(`${"\u007f".repeat(8)}123456789:AAabcdefghijklmnopqrstuvw${ENTER}`);
    await answer(terminal, "Who may send direct messages on Telegram?", ENTER);
    await terminal.waitFor(/exit=0/);
    expect(terminal.output()).not.toContain("AAabcdefghijklmnopqrstuvw");
    expect(home.text()).toMatch(/\/\/ mine\n/);
    expect(home.text()).toMatch(/telegram: \{[\s\S]*botToken: "123456789:AAabcdefghijklmnopqrstuvw"/);
  });

  test("with a gateway that runs, goes on in the page or in the terminal", async () => {
    const home = setupHome();
    home.configure(
      `{ gateway: { mode: "local", port: 18789, bind: "loopback", auth: { mode: "token", token: "a-token-of-mine-0123456789" }, tailscale: { mode: "off", resetOnExit: false } } }`,
    );
    await using gateway = await home.gateway({ build: BUILD });
    expect(gateway.url).toBeDefined();
    const flags = ["--accept-risk", "--flow", "quickstart", "--auth-choice", "skip", "--skip-channels", "--skip-skills", "--skip-daemon"];
    const page = await open(home, "onboard", ...flags);
    await answer(page, "Existing configuration", ENTER);
    await answer(page, "How do you want to begin?", ENTER);
    await page.waitFor(/http:\/\/127\.0\.0\.1:\d+\/\S*#[\s\S]*exit=0/);
    const chat = await open(home, "onboard", ...flags);
    await answer(chat, "Existing configuration", ENTER);
    await answer(chat, "How do you want to begin?", `${DOWN}${ENTER}`);
    await chat.waitFor(/^ready/m);
    chat.send("\u0004");
    await chat.waitFor(/exit=0/);
  });

  test("config without a sub-command is configure, and sections are written one by one", async () => {
    const home = setupHome();
    home.configure(`{ gateway: { mode: "local", auth: { token: "a-token-of-mine-0123456789" } } }`);
    const terminal = await open(home, "config", "--section", "workspace", "--section", "gateway");
    await answer(terminal, "Agent workspace folder", ENTER);
    await terminal.waitFor(/Port/);
    expect(home.text()).toContain("workspace");
    terminal.send(CTRL_C);
    await terminal.waitFor(/exit=0/);
    expect(home.text()).not.toContain("tailscale");
  });
});
