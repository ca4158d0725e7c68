import { isRecord } from "../../base/records.ts";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { packageFolder } from "../../base/program-name.ts";
import { expandHome, lockFile, sessionIndexFile, type Config, type Env, type OpenClawConfig } from "../../config/index.ts";
import type { FileRules } from "./file-access.ts";
import type { OwnPlaces } from "./sealed.ts";
import { logFileAt } from "../../base/log/log-file.ts";

const SECRET_FILE_KEY = /(?:token|secret|password|credentials?|key|serviceAccount)(?:File|Path)$/i;
/** Keys that name a program, a module, or a file that decides whom or what the gateway trusts. */
const PROGRAM_KEY = /^(?:command|cliPath|executablePath|binaryPath|extensionPath|module|certPath|caPath|seccompProfile)$/;
/** An argument that is a script of a configured program. */
const SCRIPT = /^(?:~|\.{0,2})\/.*\.(?:[cm]?[jt]s|py|rb|pl|php|lua|sh|bash|jar|wasm)$/i;
/** Variables that move folders with logins. */
const LOGIN_FOLDERS = ["OPENCLAW_OAUTH_DIR", "OPENCLAW_AGENT_DIR", "PI_CODING_AGENT_DIR"];

interface Named {
  readonly secrets: string[];
  readonly programs: string[];
}

/** Files that a configuration has secrets in, and programs that it has the gateway run. */
function namedIn(value: unknown, found: Named): Named {
  if (Array.isArray(value)) for (const item of value) namedIn(item, found);
  else if (isRecord(value)) {
    const { source, path, args } = value;
    if (source === "file" && typeof path === "string") found.secrets.push(path);
    if ("command" in value && Array.isArray(args)) found.programs.push(...args.filter((arg): arg is string => typeof arg === "string" && SCRIPT.test(arg)));
    for (const [key, item] of Object.entries(value)) {
      if (typeof item !== "string" || item.trim() === "") namedIn(item, found);
      else if (SECRET_FILE_KEY.test(key)) found.secrets.push(item);
      else if (PROGRAM_KEY.test(key) && item.includes("/")) found.programs.push(item);
    }
  }
  return found;
}

/** Folders that plugins, hooks and the page are loaded from, whether they exist yet or not. */
function codeFolders({ plugins, hooks, gateway, agents }: OpenClawConfig, workspaces: readonly string[]): readonly string[] {
  const named = [hooks?.transformsDir, ...(hooks?.internal?.load?.extraDirs ?? []), gateway?.controlUi?.root, ...(plugins?.load?.paths ?? [])];
  const written = [agents?.defaults?.workspace, ...(agents?.list ?? []).map(({ workspace }) => workspace)];
  const below = [join(".openclaw", "extensions"), "hooks", ...(hooks?.internal?.handlers ?? []).map(({ module }) => module)];
  const code = [...workspaces, ...written].flatMap((folder) => (folder?.trim() ? below.map((path) => join(folder.trim(), path)) : []));
  return [...named.flatMap((folder) => (folder?.trim() ? [folder] : [])), ...code];
}

/** `node_modules` beside and above a folder: imports that are not found nearer are looked for there. */
function modulesAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (basename(at) !== "node_modules") found.push(join(at, "node_modules"));
    if (dirname(at) === at) return found;
  }
}

/** Programs are started by name from these folders. */
function searchPath(env: Env, workspaces: readonly string[]): readonly string[] {
  const folders = (env["PATH"] ?? "").split(delimiter).map((folder) => folder.trim());
  return folders.filter((folder) => isAbsolute(folder) && dirname(folder) !== folder && !workspaces.includes(resolve(folder)));
}

export interface OwnPlacesDeps {
  readonly config: Pick<Config, "current" | "paths" | "sources">;
  readonly env: Env;
  readonly home: string;
  /** The folder that the gateway was started in. */
  readonly cwd: string;
  readonly uid: number | undefined;
  readonly workspaceOf: (agentId: string) => string;
}

/** Earlier texts of the configuration, which hold its secrets as well. */
const BACKUPS = [".bak", ".bak.1", ".bak.2", ".bak.3", ".bak.4"];

/** The places of this gateway that tools keep away from. The same object while the configuration is the same. */
export function ownPlaces(deps: OwnPlacesDeps): () => OwnPlaces {
  const { config } = deps;
  const program = packageFolder(import.meta.dirname);
  let known: OwnPlaces | undefined;
  let of: { readonly config: OpenClawConfig; readonly files: string } | undefined;
  return () => {
    const files = config.sources();
    if (known && of?.config === config.current && of.files === files.join("\0")) return known;
    known = placesNow(deps, program, files);
    of = { config: config.current, files: files.join("\0") };
    return known;
  };
}

function placesNow({ config, env, home, cwd, uid, workspaceOf }: OwnPlacesDeps, program: string | undefined, files: readonly string[]): OwnPlaces {
  const { current, paths } = config;
  /** A relative path counts from the configuration's folder and from the folder of the start: which one holds depends on the key. */
  const absolute = (path: string): readonly string[] => {
    const plain = expandHome(path.trim(), paths.home);
    return [...new Set([resolve(dirname(paths.file), plain), resolve(cwd, plain)])];
  };
  const { secrets, programs } = namedIn(current, { secrets: [], programs: [] });
  const agents = current.agents?.list ?? [];
  const logins = [...agents.flatMap(({ agentDir }) => agentDir?.trim() || []), ...LOGIN_FOLDERS.flatMap((name) => env[name]?.trim() || [])];
  const { store } = current.session ?? {};
  // It decides what sessions may do; in its usual place the state folder covers it.
  const lists = store?.trim() ? ["main", ...agents.map(({ id }) => id)].map((id) => sessionIndexFile(store, paths, id)) : [];
  const workspaces = ["main", ...agents.map(({ id }) => id)].map(workspaceOf);
  const bundled = [env["OPENCLAW_BUNDLED_PLUGINS_DIR"] ?? "", env["OPENCLAW_BUNDLED_HOOKS_DIR"] ?? ""];
  const folders = [...codeFolders(current, workspaces), ...bundled].filter((folder) => folder.trim() !== "").flatMap(absolute);
  // A workspace's own node_modules counts only where plugins are in that workspace.
  const importing = [...(program === undefined ? [] : [program]), paths.state, ...folders.filter((folder) => existsSync(folder))];
  const configured = current.logging?.file;
  const bin = dirname(process.execPath);
  return {
    state: paths.state,
    configFiles: files.flatMap((file) => [file, ...BACKUPS.map((ending) => `${file}${ending}`)]),
    secrets: [dirname(lockFile(paths.file, tmpdir(), uid)), ...lists, ...[...secrets, ...logins].flatMap(absolute)],
    programs: [...importing.slice(0, program === undefined ? 0 : 1), bin, join(dirname(bin), "lib"), ...folders, ...programs.flatMap(absolute)],
    modules: [...new Set(importing.flatMap(modulesAbove))],
    searched: searchPath(env, workspaces),
    records: configured === undefined ? [dirname(logFileAt({ stateDir: paths.state })(0))] : absolute(configured).flatMap((file) => [file, `${file}.1`]),
    skills: [
      join(home, ".agents", "skills"),
      ...(current.skills?.load?.extraDirs ?? []).flatMap((folder) => workspaces.map((from) => resolve(from, expandHome(folder.trim(), home)))),
    ],
    homes: [...new Set([paths.home, home])],
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
