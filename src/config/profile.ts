import { join } from "node:path";
import type { Env } from "./env.ts";
import { homeFolder } from "./paths.ts";

export type ProfileResult =
  | {
      readonly ok: true;
      readonly profile: string | undefined;
      /** The arguments without the profile flags. */ readonly args: readonly string[];
      /** Variables to set. */ readonly set: Readonly<Record<string, string>>;
    }
  /** The command line is wrong: say this and exit with 2. */
  | { readonly ok: false; readonly message: string };

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const DEV_PORT = "19001";

/**
 * What `--profile <name>`, `--dev` and a set `OPENCLAW_PROFILE` do to the environment. Flags count only before the first word that is not a flag: behind
 * it they are the sub-command's; a flag wins over the variable. Variables that are set are never changed, except `OPENCLAW_PROFILE`.
 */
export function profileEnv(args: readonly string[], env: Env, place: { readonly osHome: string; readonly cwd: string }): ProfileResult {
  const found = readFlags(args);
  if ("message" in found) return { ok: false, message: found.message };
  const { rest } = found;
  const inherited = env["OPENCLAW_PROFILE"]?.trim() || undefined;
  if (found.profile === undefined && inherited !== undefined && !NAME.test(inherited)) return { ok: false, message: badName("OPENCLAW_PROFILE=", inherited) };
  const profile = found.profile ?? inherited;
  if (profile === undefined) return { ok: true, profile: undefined, args: rest, set: {} };
  const home = homeFolder({ env, exists: () => false, ...place });
  const state = env["OPENCLAW_STATE_DIR"]?.trim() || join(home, profile.toLowerCase() === "default" ? ".openclaw" : `.openclaw-${profile}`);
  const wanted: Record<string, string> = { OPENCLAW_STATE_DIR: state, OPENCLAW_CONFIG_PATH: join(state, "openclaw.json") };
  if (profile === "dev") wanted["OPENCLAW_GATEWAY_PORT"] = DEV_PORT;
  const unset = Object.entries(wanted).filter(([name]) => !env[name]?.trim());
  return { ok: true, profile, args: rest, set: { OPENCLAW_PROFILE: profile, ...Object.fromEntries(unset) } };
}

const badName = (where: string, value: string): string =>
  `${where}${JSON.stringify(value)}: a name has up to 64 letters, digits, "_" and "-", and starts with a letter or digit`;

function readFlags(args: readonly string[]): { profile: string | undefined; rest: string[] } | { message: string } {
  const rest: string[] = [];
  let named: string | undefined;
  let dev = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (arg === "--" || !arg.startsWith("-")) {
      rest.push(...args.slice(at));
      break;
    }
    if (arg === "--dev") dev = true;
    else if (arg === "--profile" || arg.startsWith("--profile=")) {
      const value = arg === "--profile" ? args[(at += 1)] : arg.slice("--profile=".length);
      if (value === undefined || value === "") return { message: "--profile needs a name, as in --profile work" };
      if (!NAME.test(value)) return { message: badName("--profile ", value) };
      named = value;
    } else rest.push(arg);
  }
  if (dev && named !== undefined) return { message: "--dev and --profile exclude each other: --dev is the profile named dev" };
  return { profile: dev ? "dev" : named, rest };
}
