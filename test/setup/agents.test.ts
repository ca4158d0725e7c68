import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { programArguments } from "../harness/program.ts";
import { openPseudoTerminal, type PseudoTerminal } from "../harness/pseudo-terminal.ts";
import { BUILD, setupHome, type SetupHome } from "./place.ts";

vi.setConfig({ testTimeout: 90_000 });

const ENTER = "\r";
const CTRL_C = "\u0003";
const DOWN = "\u001b[B";

async function open(home: SetupHome, ...args: readonly string[]): Promise<PseudoTerminal> {
  const line = [process.execPath, ...programArguments(BUILD), ...args];
  const terminal = await openPseudoTerminal({ line, env: home.env, cwd: home.home, columns: 110, rows: 50 });
  onTestFinished(() => terminal[Symbol.asyncDispose]());
  return terminal;
}

async function answer(terminal: PseudoTerminal, question: string | RegExp, keys: string): Promise<void> {
  await terminal.waitFor(question);
  terminal.send(keys);
}

test("a person at a terminal is asked for the name, the template, the folder and the model", async () => {
  const home = setupHome();
  const terminal = await open(home, "agents", "add");
  await answer(terminal, "Agent name", `Night Shift${ENTER}`);
  await answer(terminal, "Template", `${DOWN}${ENTER}`);
  await answer(terminal, "Workspace folder", ENTER);
  await answer(terminal, "Model (empty", ENTER);
  await terminal.waitFor(/exit=0/);
  expect(terminal.output()).toContain("from the template coder");
  expect(home.config()).toMatchObject({ agents: { list: [{ id: "main" }, { id: "night-shift", name: "Night Shift", tools: { profile: "coding" } }] } });
  expect(existsSync(join(home.stateDir, "workspace-night-shift", "AGENTS.md"))).toBe(true);
});

test("leaving a question changes nothing and is no failure", async () => {
  const home = setupHome();
  const terminal = await open(home, "agents", "add", "work");
  await answer(terminal, "Template", CTRL_C);
  await terminal.waitFor(/exit=0/);
  expect([home.text(), existsSync(join(home.stateDir, "workspace-work"))]).toEqual([undefined, false]);
});

test("deleting asks first, and no means no", async () => {
  const home = setupHome();
  expect((await home.run(["agents", "add", "work"])).code).toBe(0);
  const before = home.text();
  const refused = await open(home, "agents", "delete", "work");
  await answer(refused, "Delete work?", `n${ENTER}`);
  await refused.waitFor(/exit=0/);
  expect([refused.output().includes("No changes made"), home.text()]).toEqual([true, before]);
  const agreed = await open(home, "agents", "delete", "work");
  await answer(agreed, "Delete work?", `y${ENTER}`);
  await agreed.waitFor(/exit=0/);
  expect(existsSync(join(home.stateDir, "workspace-work"))).toBe(false);
  expect(home.config()).toMatchObject({ agents: { list: [{ id: "main" }] } });
});
