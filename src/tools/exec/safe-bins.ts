import { basename, dirname } from "node:path";
import { isCarrier } from "../executables.ts";
import type { PlannedSegment } from "./plan.ts";

export const DEFAULT_SAFE_BINS: readonly string[] = ["jq", "cut", "uniq", "head", "tail", "tr", "wc"];

export const TRUSTED_FOLDERS: ReadonlySet<string> = new Set([
  "/bin",
  "/usr/bin",
  "/usr/local/bin",
  "/opt/homebrew/bin",
  "/opt/local/bin",
  "/snap/bin",
  "/run/current-system/sw/bin",
]);

interface Profile {
  readonly positionals: readonly [min: number, max: number];
  /** Letters of options without a value, then of those with one. */
  readonly short: readonly [plain: string, valued: string];
  /** Long options, in full; a `=` at the end takes a value. Each one that is not named here is refused, and so are abbreviations. */
  readonly long: string;
  readonly refuses?: (positionals: readonly string[], options: ReadonlySet<string>) => boolean;
}

const PROFILES: Readonly<Record<string, Profile>> = {
  jq: {
    positionals: [0, 1],
    short: ["nrRscCMSaejh", ""],
    long: "null-input raw-input raw-output join-output slurp compact-output color-output monochrome-output sort-keys ascii-output exit-status tab indent= stream seq unbuffered",
    // The filter could read variables of the gateway, or files as modules.
    refuses: (positionals) => positionals.some((filter) => /\benv\b|\bENV\b|\bimport\b|\binclude\b|\binput_filename\b/.test(filter)),
  },
  grep: {
    positionals: [0, 1],
    short: ["EFGPivwxcoqshnlLHabzyTU", "emABC"],
    long: "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count only-matching quiet silent line-number null-data regexp= max-count= after-context= before-context= context=",
    // With a pattern among the options the positional is a file.
    refuses: (positionals, options) => positionals.length > 0 && (options.has("e") || options.has("regexp")),
  },
  sort: {
    positionals: [0, 0],
    short: ["bdfgiMhnRrVcCmsuz", "kt"],
    long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort numeric-sort reverse version-sort check stable unique zero-terminated key= field-separator=",
  },
  wc: { positionals: [0, 0], short: ["cmlLw", ""], long: "bytes chars lines words max-line-length" },
  cut: {
    positionals: [0, 0],
    short: ["nsz", "bcdf"],
    long: "complement only-delimited zero-terminated bytes= characters= delimiter= fields= output-delimiter=",
  },
  uniq: {
    positionals: [0, 0],
    short: ["cdDiuz", "fsw"],
    long: "count repeated ignore-case unique zero-terminated skip-fields= skip-chars= check-chars=",
  },
  head: { positionals: [0, 0], short: ["qvz0123456789", "nc"], long: "quiet silent verbose zero-terminated lines= bytes=" },
  tail: { positionals: [0, 0], short: ["qvz0123456789", "nc"], long: "quiet silent verbose zero-terminated lines= bytes=" },
  tr: { positionals: [1, 2], short: ["cCdst", ""], long: "complement delete squeeze-repeats truncate-set1" },
};

/** True when a segment can only filter what it is given: a listed program from a system folder, with arguments that name no file. */
export function isSafeBin(segment: PlannedSegment, safeBins: readonly string[] = DEFAULT_SAFE_BINS): boolean {
  const { executable, argv } = segment;
  if (executable === null || !TRUSTED_FOLDERS.has(dirname(executable)) || isCarrier(executable)) return false;
  const name = basename(executable);
  const args = argv.slice(1);
  if (!safeBins.includes(name) || args.some(namesFile) || (name !== "jq" && args.some((arg) => /[*?[\]]/.test(arg)))) return false;
  const profile = Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
  return profile === undefined || fits(profile, args);
}

/** `-` is the input. */
function namesFile(arg: string): boolean {
  const parts = [arg, arg.slice(arg.indexOf("=") + 1), arg.replace(/^-[A-Za-z]/, "")];
  return parts.some((part) => /^(?:\.{1,2}\/|~|\/|[A-Za-z]:[\\/])/.test(part) || part === "..");
}

function fits({ positionals: [min, max], short: [plain, valued], long, refuses }: Profile, args: readonly string[]): boolean {
  const names = new Set(long.split(" "));
  const positionals: string[] = [];
  const options = new Set<string>();
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") {
      positionals.push(...args.slice(at + 1));
      break;
    }
    if (arg.startsWith("--")) {
      const [name = "", ...value] = arg.slice(2).split("=");
      if (names.has(`${name}=`)) {
        if (value.length === 0) at += 1;
      } else if (!names.has(name) || value.length > 0) return false;
      options.add(name);
    } else if (arg.startsWith("-") && arg.length > 1) {
      const letters = shortOptions(arg.slice(1), plain, valued);
      if (!letters) return false;
      for (const letter of letters.found) options.add(letter);
      if (letters.needsValue) at += 1;
    } else if (arg !== "-") positionals.push(arg);
    if (at >= args.length) return false;
  }
  return positionals.length >= min && positionals.length <= max && !refuses?.(positionals, options);
}

/** The rest of a cluster after an option with a value is its value. */
function shortOptions(letters: string, plain: string, valued: string): { readonly found: readonly string[]; readonly needsValue: boolean } | undefined {
  const found: string[] = [];
  for (const [index, letter] of letters.split("").entries()) {
    found.push(letter);
    if (valued.includes(letter)) return { found, needsValue: index === letters.length - 1 };
    if (!plain.includes(letter)) return undefined;
  }
  return { found, needsValue: false };
}
