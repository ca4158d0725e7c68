/** What a plugin talks to when a command runs it: a person, and the command's output. */
import { AppError } from "../base/errors.ts";
import type { RuntimeEnv, WizardPrompter } from "../protocol/index.ts";
import { ask } from "./ask.ts";
import type { Io } from "./io.ts";

/** Questions of a plugin, on the terminal. */
export function prompterFor(io: Io): WizardPrompter {
  const say = async (text: string): Promise<void> => io.err(`${text}\n`);
  const choose = async <T>(message: string, options: readonly { readonly value: T; readonly label: string }[]): Promise<T> => {
    const list = options.map(({ label }, index) => `  ${index + 1}. ${label}\n`).join("");
    const answer = Number(await ask(io, { text: `${message}\n${list}Number: `, expected: "the number of a choice" }));
    const option = options[answer - 1];
    if (!option) throw new AppError("INVALID_INPUT", `expected a number from 1 to ${options.length}`);
    return option.value;
  };
  return {
    intro: say,
    outro: say,
    note: (message, title) => say(title === undefined ? message : `${title}\n${message}`),
    select: ({ message, options }) => choose(message, options),
    multiselect: async ({ message, options }) => [await choose(message, options)],
    async text({ message, initialValue, sensitive, validate }) {
      const secret = (await import("../setup/index.ts")).asksForSecret({ message, sensitive });
      const usual = initialValue && !secret ? ` [${initialValue}]` : "";
      const answer = await ask(io, { text: `${message}${usual}: `, secret, expected: "an answer" });
      const wrong = validate?.(answer);
      if (wrong) throw new AppError("INVALID_INPUT", wrong);
      return answer;
    },
    confirm: ({ message }) => io.confirm(message),
    progress(label) {
      io.err(`${label}\n`);
      return { update: (text) => io.err(`${text}\n`), stop: (text) => (text ? io.err(`${text}\n`) : undefined) };
    },
  };
}

/** `what` names what a plugin would end by leaving. With `json` nothing of it is part of the answer. */
export function runtimeOf(io: Io, what: string, { json = false } = {}): RuntimeEnv {
  const line = (parts: readonly unknown[]): string => `${parts.map(String).join(" ")}\n`;
  return {
    log: (...parts) => (json ? io.err : io.out)(line(parts)),
    error: (...parts) => io.err(line(parts)),
    exit: (code) => {
      throw new AppError("CANCELLED", `the plugin ended ${what} with code ${code}`);
    },
  };
}
