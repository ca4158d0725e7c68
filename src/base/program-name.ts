import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, sep } from "node:path";
import { shellQuote } from "./text.ts";

/** Commands of this program, as texts in every module mention them: `openclaw doctor --fix`. */
export const PROGRAM_COMMANDS = [
  "agent",
  "agents",
  "approvals",
  "backup",
  "browser",
  "call",
  "channels",
  "completion",
  "config",
  "configure",
  "cron",
  "dashboard",
  "devices",
  "directory",
  "docs",
  "doctor",
  "gateway",
  "health",
  "help",
  "hooks",
  "logs",
  "memory",
  "message",
  "models",
  "node",
  "nodes",
  "onboard",
  "pairing",
  "plugins",
  "qr",
  "reset",
  "route",
  "sandbox",
  "security",
  "sessions",
  "setup",
  "skills",
  "status",
  "system",
  "tools",
  "tui",
  "uninstall",
  "webhooks",
  "why",
] as const;

/** Not inside another word or path; the end of a colour's code, such as `ESC[1m`, is no word. */
const WRITTEN = new RegExp(String.raw`(?:(?<![\w./~-])|(?<=\u001b\[[\d;]*m))(?:bin/)?openclaw (?=(?:${PROGRAM_COMMANDS.join("|")})(?![\w-]))`, "g");

/** Rewrites commands in a text so that they can be pasted and run: `program` replaces `openclaw`. */
export function withProgram(text: string, program: string): string {
  return program === "openclaw" || !text.includes("openclaw ") ? text : text.replace(WRITTEN, () => `${program} `);
}

/** Root folder of the package that contains `from`: sources and bundle are at different depths below it. */
export function packageFolder(from: string): string | undefined {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) if (existsSync(join(folder, "bin", "openclaw"))) return folder;
  return undefined;
}

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // It does not exist, or this user may not see it.
  }
};

export interface ProgramLocation {
  /** A folder inside the package that runs. */
  readonly from: string;
  /** `PATH` of the shell that the command is pasted into. */
  readonly path: string | undefined;
  readonly profile: string | undefined;
  /** Current folder of that shell; undefined where it is unknown, as for a page or a chat, which are never shown a path of this machine. */
  readonly cwd: string | undefined;
}

/** How to run this program: `openclaw` where the shell finds it, `bin/openclaw` in a checkout, the absolute path from another folder. */
export function programName({ from, path, profile, cwd }: ProgramLocation): string {
  const root = packageFolder(from);
  const chosen = profile === undefined || profile.trim() === "" ? "" : profile === "dev" ? " --dev" : ` --profile ${profile.trim()}`;
  if (root === undefined) return `openclaw${chosen}`;
  const entry = join(root, "bin", "openclaw");
  const own = realPath(entry);
  const isFound = (path ?? "").split(delimiter).some((folder) => folder.startsWith("/") && own !== undefined && realPath(join(folder, "openclaw")) === own);
  const isInstalled = root.split(sep).includes("node_modules");
  if (isFound || (cwd === undefined && isInstalled)) return `openclaw${chosen}`;
  if (cwd === undefined || realPath(cwd) === realPath(root)) return `bin/openclaw${chosen}`;
  return `${/^[\w@%+=:,./-]+$/.test(entry) ? entry : shellQuote(entry)}${chosen}`;
}

/** Texts of a gateway for pages and chats, with every `openclaw …` command as its user can run it. No path of this machine gets into them. */
export function runnableTexts(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  // A search along the PATH: only for texts that name a command.
  let found: string | undefined;
  return (text) => {
    if (!text.includes("openclaw ")) return text;
    found ??= programName({ from: import.meta.dirname, path: env["PATH"], profile: env["OPENCLAW_PROFILE"], cwd: undefined });
    return withProgram(text, found);
  };
}
