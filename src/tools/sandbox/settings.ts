import { join } from "node:path";
import type { OpenClawConfig } from "../../config/index.ts";

type Written = NonNullable<NonNullable<NonNullable<OpenClawConfig["agents"]>["defaults"]>["sandbox"]>;
type WrittenDocker = NonNullable<Written["docker"]>;
type WrittenBwrap = NonNullable<Written["bwrap"]>;
type WrittenBrowser = NonNullable<Written["browser"]>;
type Env = Readonly<Record<string, string>>;

export type SandboxBackendName = "docker" | "bwrap";

type WithDefault = "image" | "containerPrefix" | "workdir" | "readOnlyRoot" | "tmpfs" | "network" | "capDrop";

export interface DockerSettings extends Omit<WrittenDocker, WithDefault | "env" | "binds"> {
  readonly image: string;
  readonly containerPrefix: string;
  readonly workdir: string;
  readonly readOnlyRoot: boolean;
  readonly tmpfs: readonly string[];
  readonly network: string;
  readonly capDrop: readonly string[];
  readonly env: Env;
  readonly binds: readonly string[];
}

export interface BwrapSettings extends Omit<WrittenBwrap, "command" | "network" | "env" | "binds" | "pidsLimit"> {
  readonly command: string;
  readonly network: "none" | "host";
  readonly env: Env;
  readonly binds: readonly string[];
  readonly pidsLimit: number;
}

/** The browser of a sandbox. Without `binds` those of the tools' container hold. */
export type SandboxBrowserSettings = Readonly<Required<Omit<WrittenBrowser, "binds">>> & { readonly binds?: readonly string[] | undefined };

/** How an agent's sessions are kept apart from this machine. */
export interface SandboxSettings {
  readonly mode: "off" | "non-main" | "all";
  readonly scope: "session" | "agent" | "shared";
  readonly workspaceAccess: "none" | "ro" | "rw";
  readonly workspaceRoot: string;
  readonly sessionToolsVisibility: "spawned" | "all";
  readonly backend: SandboxBackendName;
  readonly docker: DockerSettings;
  readonly bwrap: BwrapSettings;
  readonly browser: SandboxBrowserSettings;
  /** 0 switches a rule off. */
  readonly prune: { readonly idleHours: number; readonly maxAgeDays: number };
}

export const DEFAULT_IMAGE = "openclaw-sandbox:bookworm-slim";
const ENV: Env = { LANG: "C.UTF-8" };
const DOCKER = {
  image: DEFAULT_IMAGE,
  containerPrefix: "openclaw-sbx-",
  workdir: "/workspace",
  readOnlyRoot: true,
  tmpfs: ["/tmp", "/var/tmp", "/run"],
  network: "none",
  capDrop: ["ALL"],
};
const BWRAP = { command: "bwrap", network: "none" as const, pidsLimit: 512 };
const BROWSER = {
  enabled: false,
  image: "openclaw-sandbox-browser:bookworm-slim",
  containerPrefix: "openclaw-sbx-browser-",
  cdpPort: 9222,
  vncPort: 5900,
  noVncPort: 6080,
  headless: false,
  enableNoVnc: true,
  allowHostControl: false,
  autoStart: true,
  autoStartTimeoutMs: 12_000,
};
const PRUNE = { idleHours: 24, maxAgeDays: 7 };

/** The agent's settings over everybody's, field by field. A sandbox that all share is made by everybody's alone. */
export function sandboxSettings(config: OpenClawConfig, agentId: string, stateDir: string): SandboxSettings {
  const all: Written = config.agents?.defaults?.sandbox ?? {};
  const own: Written = config.agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase())?.sandbox ?? {};
  const scope = scopeOf(own) ?? scopeOf(all) ?? "agent";
  const parts: Written = scope === "shared" ? {} : own;
  return {
    mode: own.mode ?? all.mode ?? "off",
    scope,
    workspaceAccess: own.workspaceAccess ?? all.workspaceAccess ?? "none",
    workspaceRoot: own.workspaceRoot ?? all.workspaceRoot ?? join(stateDir, "sandboxes"),
    sessionToolsVisibility: own.sessionToolsVisibility ?? all.sessionToolsVisibility ?? "spawned",
    backend: own.backend ?? all.backend ?? "docker",
    docker: {
      ...DOCKER,
      ...all.docker,
      ...parts.docker,
      env: { ...(all.docker?.env ?? ENV), ...parts.docker?.env },
      binds: [...(all.docker?.binds ?? []), ...(parts.docker?.binds ?? [])],
      ...(all.docker?.ulimits || parts.docker?.ulimits ? { ulimits: { ...all.docker?.ulimits, ...parts.docker?.ulimits } } : {}),
    },
    bwrap: {
      ...BWRAP,
      ...all.bwrap,
      ...parts.bwrap,
      env: { ...(all.bwrap?.env ?? ENV), ...parts.bwrap?.env },
      binds: [...(all.bwrap?.binds ?? []), ...(parts.bwrap?.binds ?? [])],
    },
    browser: { ...BROWSER, ...all.browser, ...parts.browser },
    prune: { ...PRUNE, ...all.prune, ...parts.prune },
  };
}

/** `perSession` is the older word. */
function scopeOf({ scope, perSession }: Written): SandboxSettings["scope"] | undefined {
  return scope ?? (perSession === undefined ? undefined : perSession ? "session" : "shared");
}

/** The key of the session that `non-main` leaves outside. */
export function mainKeyOf(config: OpenClawConfig, agentId: string): string {
  return config.session?.scope === "global" ? "global" : `agent:${agentId.toLowerCase()}:main`;
}

/** The same by the configuration alone, for decisions about a session from outside of it. */
export function isSessionSandboxed(config: OpenClawConfig, agentId: string, sessionKey: string): boolean {
  return isSandboxed(sandboxSettings(config, agentId, ""), sessionKey, mainKeyOf(config, agentId));
}

/** Whether a session's tools work inside. */
export function isSandboxed({ mode }: Pick<SandboxSettings, "mode">, sessionKey: string, mainKey: string): boolean {
  return mode === "all" || (mode === "non-main" && sessionKey.trim().toLowerCase() !== mainKey);
}
