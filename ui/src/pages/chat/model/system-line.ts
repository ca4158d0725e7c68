const STAMP = /^\[\d{4}-\d{2}-\d{2}[^\]]*\] /;
const NAMES = /\b(?:gateway id|node|id|session)=[^\s,)]+(?:, | )?/g;
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Exec finished \(code 0\)$/, "The command finished"],
  [/^Exec finished \(code (\d+)\)$/, "The command finished with code $1"],
  [/^Exec finished \(timeout\)$/, "The command took too long and was ended"],
  [/^Exec finished \((signal .*)\)$/, "The command was ended by $1"],
  [/^Exec denied \(user-denied\).*$/, "The command was denied"],
  [/^Exec denied \(approval-timeout[^:]*\):.*$/, "The command was not approved in time"],
  [/^Exec denied \(gateway-restarted\).*$/, "The command did not run: the gateway restarted"],
  [/^Exec interrupted .*$/, "The gateway ended while the command ran"],
  [/^Exec running .*$/, "The command still runs"],
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
