import { join, resolve } from "node:path";
import { AppError } from "../base/errors.ts";
import { isTruthy, type Env } from "./env.ts";

/** What paths are computed from. Nothing else is looked at. */
export interface PathContext {
  readonly env: Env;
  readonly exists: (path: string) => boolean;
  /** The operating system's idea of the user's home. */
  readonly osHome: string;
  readonly cwd: string;
}

const STATE_FOLDER = ".openclaw";
const LEGACY_STATE_FOLDERS = [".clawdbot", ".moldbot", ".moltbot"];
const CONFIG_NAMES = ["openclaw.json", "clawdbot.json", "moldbot.json", "moltbot.json"];

/** A set variable: the first of `names` that is there and not blank. */
function first(env: Env, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}

/** Replaces a leading `~` by `home`. `~other` is left alone. */
export function expandHome(path: string, home: string): string {
  if (path === "~") return home;
  return path.startsWith("~/") || path.startsWith("~\\") ? join(home, path.slice(2)) : path;
}

export function homeFolder(context: PathContext): string {
  const plain = first(context.env, "HOME", "USERPROFILE") ?? (context.osHome.trim() || context.cwd);
  const own = first(context.env, "OPENCLAW_HOME");
  return resolve(context.cwd, own ? expandHome(own, plain) : plain);
}

function fromUser(context: PathContext, path: string): string {
  return resolve(context.cwd, expandHome(path, homeFolder(context)));
}

export function stateFolder(context: PathContext): string {
  const own = first(context.env, "OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR");
  if (own) return fromUser(context, own);
  const home = homeFolder(context);
  const folders = [STATE_FOLDER, ...LEGACY_STATE_FOLDERS].map((name) => join(home, name));
  return folders.find((folder) => context.exists(folder)) ?? join(home, STATE_FOLDER);
}

export function configFile(context: PathContext): string {
  const own = first(context.env, "OPENCLAW_CONFIG_PATH", "CLAWDBOT_CONFIG_PATH");
  if (own) return fromUser(context, own);
  const home = homeFolder(context);
  const folders = [STATE_FOLDER, ...LEGACY_STATE_FOLDERS].map((name) => join(home, name));
  if (first(context.env, "OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR")) folders.unshift(stateFolder(context));
  const candidates = folders.flatMap((folder) => CONFIG_NAMES.map((name) => join(folder, name)));
  return candidates.find((path) => context.exists(path)) ?? join(stateFolder(context), "openclaw.json");
}

export function oauthFolder(context: PathContext): string {
  const own = first(context.env, "OPENCLAW_OAUTH_DIR");
  return own ? fromUser(context, own) : join(stateFolder(context), "credentials");
}

/** An id that becomes part of a path: letters, digits, `_` and `-`, so that it can name nothing but a child. */
export function checkedId(id: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) {
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(id.slice(0, 80))} is not an id: use up to 64 letters, digits, "_" and "-", starting with a letter or digit`,
    );
  }
  return id;
}

/** Where an agent keeps `auth-profiles.json` and `models.json`. */
export function agentFolder(context: PathContext, agent: { readonly id: string; readonly agentDir?: string | undefined }): string {
  return agent.agentDir?.trim() ? fromUser(context, agent.agentDir.trim()) : join(stateFolder(context), "agents", checkedId(agent.id), "agent");
}

/**
 * Where an agent's session index is: what `session.store` says, with `{agentId}` filled in and a relative path below the home folder, or the
 * documented place.
 */
export function sessionIndexFile(store: string | undefined, { state, home }: { readonly state: string; readonly home: string }, agentId: string): string {
  const template = store?.trim() ? resolve(home, expandHome(store.trim(), home)) : join(state, "agents", "{agentId}", "sessions", "sessions.json");
  return template.replaceAll("{agentId}", agentId);
}

/** The agent folder whose stores serve everyone who has none of their own. */
export function mainAgentFolder(context: PathContext): string {
  const own = first(context.env, "OPENCLAW_AGENT_DIR", "PI_CODING_AGENT_DIR");
  return own ? fromUser(context, own) : join(stateFolder(context), "agents", "main", "agent");
}

export interface WorkspaceChoice {
  readonly id: string;
  readonly isDefault: boolean;
  /** The agent's own `workspace`. */
  readonly own?: string | undefined;
  /** `agents.defaults.workspace`. */
  readonly defaults?: string | undefined;
}

export function workspaceFolder(context: PathContext, agent: WorkspaceChoice): string {
  const chosen = agent.own?.trim() || (agent.isDefault ? agent.defaults?.trim() : undefined);
  if (chosen) return fromUser(context, chosen);
  if (!agent.isDefault) return join(stateFolder(context), `workspace-${checkedId(agent.id)}`);
  const profile = first(context.env, "OPENCLAW_PROFILE");
  const suffix = profile && profile.toLowerCase() !== "default" ? `-${checkedId(profile)}` : "";
  return defaultWorkspace(context, suffix);
}

/**
 * The default agent's workspace. A state folder in the usual location keeps the documented one, in `~/.openclaw`; one that `OPENCLAW_STATE_DIR` puts
 * elsewhere holds its workspace itself, so that trying things out there leaves the usual workspace alone. One that has been used with the usual workspace
 * goes on with it.
 */
function defaultWorkspace(context: PathContext, suffix: string): string {
  const parent = join(homeFolder(context), STATE_FOLDER);
  const usual = join(parent, `workspace${suffix}`);
  if (!first(context.env, "OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR")) return usual;
  const state = stateFolder(context);
  if (state === parent || state === `${parent}${suffix}`) return usual;
  const own = join(state, `workspace${suffix}`);
  const { exists } = context;
  return !exists(own) && exists(usual) && exists(join(state, "agents", "main", "sessions")) ? usual : own;
}

/** The gateway's lock: one per config file and user. */
export function lockFile(configPath: string, temporary: string, uid: number | undefined): string {
  const hash = process.getBuiltinModule("node:crypto").createHash("sha1").update(configPath).digest("hex").slice(0, 8);
  return join(temporary, uid === undefined ? "openclaw" : `openclaw-${uid}`, `gateway.${hash}.lock`);
}

export const DEFAULT_GATEWAY_PORT = 18_789;

/** Flag, then environment, then `gateway.port`, then the default. A variable that is no port is passed over. */
export function gatewayPort(env: Env, choice: { readonly flag?: number | undefined; readonly config?: number | undefined }): number {
  if (choice.flag !== undefined) return choice.flag;
  const text = first(env, "OPENCLAW_GATEWAY_PORT", "CLAWDBOT_GATEWAY_PORT");
  const port = text && /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port <= 65_535 ? port : (choice.config ?? DEFAULT_GATEWAY_PORT);
}

/** Ports that follow from the gateway's. */
export function derivedPorts(gateway: number): { readonly browserControl: number; readonly extensionRelay: number; readonly cdp: readonly [number, number] } {
  const control = gateway + 2;
  return { browserControl: control, extensionRelay: control + 1, cdp: [control + 9, control + 108] };
}

/** True when the configuration is managed from outside: nothing may migrate or rewrite it. */
export function isManaged(env: Env): boolean {
  return isTruthy(env["OPENCLAW_NIX_MODE"]);
}
