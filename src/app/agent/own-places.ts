import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expandHome, lockFile, type Config, type Env, type OpenClawConfig } from "../../config/index.ts";
import type { FileRules, OwnPlaces } from "../../tools/index.ts";

/** Folder of this program: sources and bundle lie at different depths below it. */
function programFolder(from: string = import.meta.dirname): string | undefined {
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) if (existsSync(join(folder, "bin", "openclaw"))) return folder;
  return undefined;
}

const SECRET_FILE_KEY = /(?:token|secret|password|credentials?|key)(?:File|Path)$/i;
/** Variables that move folders with logins. */
const LOGIN_FOLDERS = ["OPENCLAW_OAUTH_DIR", "OPENCLAW_AGENT_DIR", "PI_CODING_AGENT_DIR"];

interface Named {
  readonly secrets: string[];
  readonly programs: string[];
}

/** Files that a configuration has secrets in, and programs that it has the gateway run. */
function namedIn(value: unknown, found: Named): Named {
  if (Array.isArray(value)) for (const item of value) namedIn(item, found);
  else if (typeof value === "object" && value !== null) {
    const { source, path, command } = value as { readonly source?: unknown; readonly path?: unknown; readonly command?: unknown };
    if (source === "file" && typeof path === "string") found.secrets.push(path);
    if (source === "exec" && typeof command === "string" && command.includes("/")) found.programs.push(command);
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === "string" && item.trim() !== "" && SECRET_FILE_KEY.test(key)) found.secrets.push(item);
      else namedIn(item, found);
    }
  }
  return found;
}

function programsOf({ plugins, hooks }: OpenClawConfig, workspaces: readonly string[]): readonly string[] {
  const hooked = [hooks?.transformsDir, ...(hooks?.internal?.load?.extraDirs ?? [])].filter((folder) => folder !== undefined);
  return [...(plugins?.load?.paths ?? []), ...hooked, ...workspaces.map((folder) => join(folder, ".openclaw", "extensions"))];
}

export interface OwnPlacesDeps {
  readonly config: Pick<Config, "current" | "paths" | "snapshot">;
  readonly env: Env;
  readonly home: string;
  readonly uid: number | undefined;
  readonly workspaceOf: (agentId: string) => string;
}

/** Earlier texts of the configuration, which hold its secrets as well. */
const BACKUPS = [".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4"];

/** The places of this gateway that tools keep away from. The same object while the configuration is the same. */
export function ownPlaces({ config, env, home, uid, workspaceOf }: OwnPlacesDeps): () => OwnPlaces {
  const program = programFolder();
  let known: OwnPlaces | undefined;
  let of: { readonly config: OpenClawConfig; readonly files: string } | undefined;
  return () => {
    const { current, paths } = config;
    const files = [paths.file, ...config.snapshot().files];
    if (known && of?.config === current && of.files === files.join("\0")) return known;
    const absolute = (path: string): string => resolve(dirname(paths.file), expandHome(path.trim(), paths.home));
    const { secrets, programs } = namedIn(current, { secrets: [], programs: [] });
    const agents = current.agents?.list ?? [];
    const logins = [...agents.flatMap(({ agentDir }) => agentDir?.trim() || []), ...LOGIN_FOLDERS.flatMap((name) => env[name]?.trim() || [])];
    const run = [...programs, ...programsOf(current, ["main", ...agents.map(({ id }) => id)].map(workspaceOf))].map(absolute);
    known = {
      state: paths.state,
      configFiles: files.flatMap((file) => [file, ...BACKUPS.map((ending) => `${file}${ending}`)]),
      secrets: [dirname(lockFile(paths.file, tmpdir(), uid)), ...[...secrets, ...logins].map(absolute)],
      programs: [...(program === undefined ? [] : [program]), process.execPath, ...run],
      homes: [...new Set([paths.home, home])],
    };
    of = { config: current, files: files.join("\0") };
    return known;
  };
}

/** `tools.fs` of an agent, its own word first. */
export function fileRules(config: OpenClawConfig, agentId: string, home: string): FileRules {
  const own = config.agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase())?.tools?.fs;
  const all = config.tools?.fs;
  return {
    workspaceOnly: own?.workspaceOnly ?? all?.workspaceOnly ?? false,
    outside: own?.outside ?? all?.outside ?? "ask",
    unseal: (own?.unseal ?? all?.unseal ?? []).map((path) => resolve(expandHome(path.trim(), home))),
  };
}
