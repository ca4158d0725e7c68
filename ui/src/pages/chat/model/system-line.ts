import { t } from "../../../words/words.ts";
const STAMP = /^\[\d{4}-\d{2}-\d{2}[^\]]*\] /;
const NAMES = /\b(?:gateway id|node|id|session)=[^\s,)]+(?:, | )?/g;
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Exec finished \(code 0\)$/, t("The command finished")],
  [/^Exec finished \(code (\d+)\)$/, t("The command finished with exit code $1")],
  [/^Exec finished \(timeout\)$/, t("The command timed out and was stopped")],
  [/^Exec finished \((signal .*)\)$/, t("The command was terminated by $1")],
  [/^Exec denied \(user-denied\).*$/, t("The command was denied")],
  [/^Exec denied \(approval-timeout[^:]*\):.*$/, t("The command was not approved in time")],
  [/^Exec denied \(gateway-restarted\).*$/, t("The command did not run: the gateway restarted")],
  [/^Exec interrupted .*$/, t("The gateway stopped while the command was running")],
  [/^Exec running .*$/, t("The command is still running")],
];
const SUMMARY_CHARS = 120;

/** A short summary of a system line, and its whole text. */
export function readSystemLine(line: string): { readonly summary: string; readonly whole: string } {
  const whole = line.replace(STAMP, "");
  const [first = ""] = whole.split("\n", 1);
  const plain = first.replaceAll(NAMES, "").replace("(, ", "(");
  const found = WORDS.find(([pattern]) => pattern.test(plain));
  const said = found ? plain.replace(found[0], found[1]) : plain;
  return { summary: said.length > SUMMARY_CHARS ? `${said.slice(0, SUMMARY_CHARS)}…` : said, whole };
}
