import { shellQuote } from "../../base/text.ts";

const PLAIN_WORD = /^[\w@%+:,./-]+$/;

/**
 * The command line that an argument vector means. It is what an operator is shown and what a node plans and runs, so two vectors with the same text do
 * the same.
 */
export function commandText(argv: readonly [string, ...string[]]): string {
  const [program, flag, script] = argv;
  if (argv.length === 3 && program === "/bin/sh" && (flag === "-lc" || flag === "-c") && script !== undefined) return script;
  return argv.map((word) => (PLAIN_WORD.test(word) ? word : shellQuote(word))).join(" ");
}

/** Variables as one text that no other variables have; null without any. */
export function environmentText(env: Readonly<Record<string, string>>): string | null {
  const names = Object.keys(env).sort();
  return names.length === 0 ? null : names.map((name) => `${name}=${shellQuote(env[name] ?? "")}`).join(" ");
}
