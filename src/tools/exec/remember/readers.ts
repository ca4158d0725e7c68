import { basename, dirname } from "node:path";
import { TRUSTED_FOLDERS } from "../safe-bins.ts";

/** Programs that only read, whatever options and operands they get: no option of theirs writes a file or starts a program. */
const ANY_OPTION = new Set(
  (
    "ls dir vdir cat tac nl head tail wc cut fold fmt expand unexpand comm join paste tr rev od hexdump hd strings stat du df id groups whoami who w users uname arch nproc pwd basename dirname " +
    "readlink realpath md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum pgrep pidof free uptime vmstat lscpu lsblk lsusb lspci which whereis echo printf true false test [ " +
    "expr seq sleep grep egrep fgrep cmp locale tty cal"
  ).split(" "),
);

/** Programs that only read with these options. */
const SOME_OPTIONS: Readonly<Record<string, RegExp>> = {
  sort: /^(?:-[bdfgiMhnRrVcCmsuz]+|-k[\d.,bdfgiMhnRrV]*|-t.?)$/,
  file: /^(?:-[bhikLNnpsz0]+|--brief|--mime|--mime-type|--mime-encoding)$/,
  tree: /^-[adfisphugDFQqNrtcUxLPI]+$/,
  diff: /^(?:-[uqrsyiwbBNac]+|-U\d+|--brief|--unified|--recursive|--color=never)$/,
};

/** Sub-commands that only show something, with any names as operands. */
const SUBCOMMANDS: Readonly<Record<string, string>> = {
  systemctl: "status is-active is-enabled is-failed list-units list-timers list-unit-files",
  "apt-cache": "show search policy depends rdepends madison",
  apt: "list show search policy",
  "dpkg-query": "-l -L -s -W",
  docker: "ps images version info port",
  podman: "ps images version info port",
};

/** What of an argument list is fixed, and what may be any operand. */
export interface Shape {
  readonly subcommand: string | null;
  /** As they were written, sorted, each once. */
  readonly flags: readonly string[];
  readonly operands: readonly string[];
}

const isFlag = (arg: string): boolean => arg.startsWith("-") && arg !== "-";

function shapeOf(args: readonly string[], subcommand: string | null): Shape {
  const end = args.indexOf("--");
  const before = end < 0 ? args : args.slice(0, end);
  const flags = [...new Set(before.filter(isFlag))].sort();
  return {
    subcommand,
    flags: end < 0 ? flags : [...flags, "--"],
    operands: [...before.filter((arg) => !isFlag(arg)), ...(end < 0 ? [] : args.slice(end + 1))],
  };
}

/** The shape of a call that can only read; undefined when any other operand could do something else. Only system folders hold programs that are known. */
export function readingShape(executable: string, args: readonly string[]): Shape | undefined {
  if (!TRUSTED_FOLDERS.has(dirname(executable))) return undefined;
  const name = basename(executable);
  const known = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name]?.split(" ") : undefined;
  if (known) return args[0] !== undefined && known.includes(args[0]) ? shapeOf(args.slice(1), args[0]) : undefined;
  const shape = shapeOf(args, null);
  if (ANY_OPTION.has(name)) return shape;
  const some = Object.hasOwn(SOME_OPTIONS, name) ? SOME_OPTIONS[name] : undefined;
  return some && shape.flags.every((flag) => flag === "--" || some.test(flag)) ? shape : undefined;
}
