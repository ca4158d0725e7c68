/** The setup in this process: a person who answers, a home, and programs of a machine that write down how they are called. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { left, type Asker } from "../../src/setup/asker.ts";
import type { SetupAnswers } from "../../src/setup/answers.ts";
import { onboard } from "../../src/setup/onboard.ts";
import type { SetupHost } from "../../src/setup/host.ts";
import { openSetupHost } from "../../src/cli/commands/onboard/host.ts";
import { fakePrograms, systemctl } from "./fake-programs.ts";

export const LEAVE = Symbol("leave");

/** A person who knows what to answer to what; leaves at what is not known. */
export function person(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const notes: string[] = [];
  const offered: Record<string, readonly unknown[]> = {};
  async function answer<T>(message: string, usual: unknown, validate?: (value: string) => string | undefined): Promise<T> {
    asked.push(message);
    const key = Object.keys(answers).find((part) => message.includes(part));
    const value = key === undefined ? usual : answers[key];
    if (value === LEAVE || value === undefined) throw left();
    const wrong = typeof value === "string" ? validate?.(value) : undefined;
    if (wrong !== undefined) throw new Error(`${message}: ${wrong}`);
    return value as T;
  }
  const ask: Asker = {
    intro: async () => undefined,
    outro: async () => undefined,
    async note(message, title) {
      asked.push(`note ${title ?? message}`);
      notes.push(message);
    },
    select: ({ message, options, initialValue }) => {
      offered[message] = options.map(({ value }) => value);
      return answer(message, initialValue);
    },
    multiselect: ({ message, options, initialValues = [] }) => {
      offered[message] = options.map(({ value }) => value);
      return answer(message, initialValues);
    },
    text: ({ message, initialValue = "", validate }) => answer(message, initialValue, validate),
    password: ({ message, validate }) => answer(message, "", validate),
    confirm: ({ message, initialValue = true }) => answer(message, initialValue),
    progress: () => ({ update: () => undefined, stop: () => undefined }),
  };
  return { ask, asked, notes, offered };
}

export interface SetupFixture {
  readonly place: SetupHost;
  readonly home: string;
  /** What was run. */
  calls(): readonly string[];
  text(): string | undefined;
  config(): Record<string, unknown>;
  run(answers: Readonly<Record<string, unknown>>, given?: SetupAnswers): ReturnType<typeof onboard>;
}

export async function openSetup(
  config?: string,
  env: Readonly<Record<string, string>> = {},
  programs: Readonly<Record<string, string>> = {},
): Promise<SetupFixture> {
  const home = mkdtempSync(join(tmpdir(), "setup-steps-"));
  const path = join(home, "openclaw.json");
  if (config !== undefined) writeFileSync(path, config);
  const machine = fakePrograms(home, { systemctl: systemctl(), loginctl: "echo Linger=yes", ...programs });
  const place = await openSetupHost({
    env: {
      HOME: home,
      OPENCLAW_STATE_DIR: join(home, "state"),
      OPENCLAW_CONFIG_PATH: path,
      OPENCLAW_BUNDLED_SKILLS_DIR: join(home, "no-skills"),
      PATH: machine.folder,
      ...env,
    },
    cwd: home,
    version: "9.9.9",
    out: () => undefined,
    err: () => undefined,
    program: "openclaw",
    runnable: (text: string) => text,
    color: false,
    interactive: true,
    columns: 120,
    now: () => 0,
    confirm: () => Promise.resolve(false),
    signal: () => new AbortController().signal,
  });
  onTestFinished(() => {
    place[Symbol.dispose]();
    rmSync(home, { recursive: true, force: true });
  });
  const text = (): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined);
  return {
    place,
    home,
    calls: machine.calls,
    text,
    config: () => structuredClone(place.config.current),
    run: (answers, given = {}) => onboard(place, { ask: person(answers).ask, answers: { skip: { health: true }, ...given }, command: "test" }),
  };
}

export const GOES_ON = { "Continue?": true, "as a service?": false };
