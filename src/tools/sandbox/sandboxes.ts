import { stat } from "node:fs/promises";
import { join, posix, resolve } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isInside } from "../../base/files.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { SandboxFiles } from "../sandbox-files.ts";
import type { ToolContext } from "../tool.ts";
import { WRITES_FILES } from "../catalog.ts";
import type { Availability, InsideCommand, OutsideCommand, SandboxBackend, SandboxBrowser, SandboxPlan } from "./backend.ts";
import { createBwrap } from "./bwrap/bwrap.ts";
import { createDocker } from "./docker/docker.ts";
import { createRegistry } from "./docker/registry.ts";
import { AGENT_MOUNT, mountPlan } from "./mounts.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { sandboxScope } from "./scope.ts";
import { isSandboxed, mainKeyOf, sandboxSettings, type SandboxBackendName, type SandboxSettings } from "./settings.ts";
import type { SkillFolder } from "./workspace.ts";

type Who = Pick<ToolContext, "agentId" | "sessionKey">;
type Caller = Who & Pick<ToolContext, "workspaceDir" | "runId">;

/** Where the tools of a sandboxed session run. */
export interface Sandbox {
  /** Backend and scope; part of each plan that runs in it. */
  readonly name: string;
  readonly shell: readonly string[];
  readonly path: string;
  /** True when the programs on that path are this machine's own. */
  readonly hostPrograms?: boolean;
  readonly files: SandboxFiles;
  /** Prepares the sandbox for a command. When it throws, nothing may run. */
  ready(): Promise<void>;
  /** The folder inside that a call names; undefined when there is none such. */
  folder(workdir: string | undefined): Promise<string | undefined>;
  command(command: InsideCommand): OutsideCommand;
}

/** The sandbox as the prompt describes it. */
export interface SandboxState {
  readonly mode: SandboxSettings["mode"];
  readonly sandboxed: boolean;
  readonly workdir?: string;
  readonly hostFolder?: string;
  readonly workspaceAccess?: SandboxSettings["workspaceAccess"];
  readonly workspaceMount?: string;
  /** The browser inside, when there is one. */
  readonly browser?: { readonly inside: true; readonly observerUrl?: string; readonly hostAllowed: boolean };
}

export interface Sandboxes {
  settings(agentId: string): SandboxSettings;
  isSandboxed(who: Who): boolean;
  /** Undefined for a session that works on this machine. Throws when its sandbox would be open. */
  for(caller: Caller): Sandbox | undefined;
  state(caller: Omit<Caller, "runId">): SandboxState;
  /** Tools that a session does not have because of its sandbox's access. */
  withheld(who: Who): readonly string[];
  /** The browser of a session's sandbox, started as far as it does not run. Throws when there is none. */
  browser(caller: Caller): Promise<SandboxBrowser>;
  /** Whether the chosen backend works here. */
  availability(caller: Omit<Caller, "runId">): Promise<Availability>;
}

export interface SandboxesDeps {
  readonly config: () => OpenClawConfig;
  readonly stateDir: string;
  /** The configuration's files, which no sandbox may write; see `MountFacts.ownFiles`. */
  readonly ownFiles?: (() => readonly string[]) | undefined;
  /** The gateway's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The gateway's user; undefined where there are none. */
  readonly uid: number | undefined;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Pick<Logger, "warn">;
  /** Skills that an agent has; they are copied to where it can read them. */
  readonly skills?: (agentId: string) => Promise<readonly SkillFolder[]>;
  /** In place of the ones built in. */
  readonly backends?: Partial<Readonly<Record<SandboxBackendName, SandboxBackend>>>;
}

/** An agent's settings, and its session that `non-main` leaves outside. */
interface AgentSandbox extends SandboxSettings {
  readonly mainKey: string;
}

const BWRAP_WORKDIR = "/workspace";

export function createSandboxes(deps: SandboxesDeps): Sandboxes {
  const { clock, ids, stateDir, env, home, uid } = deps;
  const warned = new Set<string>();
  const warn = (text: string): void => {
    if (warned.has(text)) return;
    warned.add(text);
    deps.log.warn(`sandbox: ${text}`);
  };
  const backends: Readonly<Record<SandboxBackendName, SandboxBackend>> = {
    docker: deps.backends?.docker ?? createDocker({ clock, ids, env, warn, registry: createRegistry(stateDir, ids) }),
    bwrap: deps.backends?.bwrap ?? createBwrap({ clock, ids, env, home, uid, stateDir, warn }),
  };
  const readiness = createReadiness({ clock, ids, backends, ...(deps.skills ? { skills: deps.skills } : {}) });

  let known: { readonly config: OpenClawConfig; readonly agents: Map<string, AgentSandbox> } | undefined;

  /** Put together once per configuration. */
  function sandboxOf(agentId: string): AgentSandbox {
    const config = deps.config();
    if (known?.config !== config) known = { config, agents: new Map() };
    const found = known.agents.get(agentId) ?? { ...sandboxSettings(config, agentId, stateDir), mainKey: mainKeyOf(config, agentId) };
    known.agents.set(agentId, found);
    return found;
  }

  function inside({ agentId, sessionKey }: Who): boolean {
    const agent = sandboxOf(agentId);
    return agent.mode !== "off" && isSandboxed(agent, sessionKey, agent.mainKey);
  }

  function planFor({ agentId, sessionKey, workspaceDir }: Omit<Caller, "runId">, isBrowser = false): SandboxPlan {
    const chosen = sandboxOf(agentId);
    const scope = sandboxScope(chosen, agentId, sessionKey);
    const { binds } = isBrowser && chosen.browser.binds ? { binds: chosen.browser.binds } : chosen[chosen.backend];
    const workdir = chosen.backend === "docker" ? chosen.docker.workdir : BWRAP_WORKDIR;
    const mounts = mountPlan({
      access: chosen.workspaceAccess,
      folder: scope.folder,
      workspaceDir,
      workdir,
      binds,
      stateDir,
      ownFiles: deps.ownFiles?.() ?? [],
      beside: chosen.backend === "bwrap",
    });
    return { settings: chosen, scope, mounts, workspaceDir };
  }

  function open(caller: Caller): Sandbox {
    const plan = planFor(caller);
    const backend = backends[plan.settings.backend];
    const ready = (): Promise<void> => readiness.ready(plan, caller);
    return {
      name: `${plan.settings.backend}:${plan.scope.slug}`,
      shell: backend.shell,
      path: backend.path,
      hostPrograms: backend.hostPrograms ?? false,
      files: { mounts: plan.mounts, readOnly: plan.settings.workspaceAccess === "ro", ready },
      async ready() {
        await ready();
        await backend.prepare(plan);
      },
      folder: (workdir) => folderInside(plan, caller.workspaceDir, workdir),
      command: (command) => backend.command(plan, command),
    };
  }

  const browsers = sandboxBrowsers({ sandboxOf, backends, planFor, readiness });

  return {
    browser: browsers.open,
    settings: sandboxOf,
    isSandboxed: inside,
    for: (caller) => (inside(caller) ? open(caller) : undefined),
    withheld: (who) => (inside(who) && sandboxOf(who.agentId).workspaceAccess === "ro" ? WRITES_FILES : []),
    availability: (caller) => readiness.available(planFor(caller)),
    state(caller) {
      const { mode, workspaceAccess } = sandboxOf(caller.agentId);
      if (!inside(caller)) return { mode, sandboxed: false };
      const [workspace] = planFor(caller).mounts;
      const mount = workspaceAccess === "ro" ? { workspaceMount: AGENT_MOUNT } : {};
      return { mode, sandboxed: true, workdir: workspace.inside, hostFolder: workspace.host, workspaceAccess, ...mount, ...browsers.state(caller) };
    },
  };
}

interface BrowsersDeps {
  readonly sandboxOf: (agentId: string) => SandboxSettings;
  readonly backends: Readonly<Record<SandboxBackendName, SandboxBackend>>;
  readonly planFor: (caller: Omit<Caller, "runId">, isBrowser: boolean) => SandboxPlan;
  readonly readiness: Readiness;
}

/** The browsers of sandboxes, as far as the configuration and the backend have them. */
function sandboxBrowsers({ sandboxOf, backends, planFor, readiness }: BrowsersDeps) {
  return {
    async open(caller: Caller): Promise<SandboxBrowser> {
      const { backend, browser: wanted } = sandboxOf(caller.agentId);
      if (!wanted.enabled)
        throw new AppError("UNAVAILABLE", "this session's sandbox has no browser: the owner can set agents.defaults.sandbox.browser.enabled");
      const start = backends[backend].browser;
      if (!start)
        throw new AppError(
          "UNAVAILABLE",
          `a browser inside of the sandbox needs the backend docker, and agents.defaults.sandbox.backend is ${backend}; with sandbox.browser.allowHostControl the browser of this machine can be used`,
        );
      const plan = planFor(caller, true);
      await readiness.ready(plan, caller);
      return start(plan);
    },
    /** For the prompt. */
    state(caller: Omit<Caller, "runId">): Pick<SandboxState, "browser"> {
      const { backend, browser: wanted } = sandboxOf(caller.agentId);
      const { screenUrl, browser: start } = backends[backend];
      if (!wanted.enabled || !start) return {};
      const observerUrl = screenUrl?.(planFor(caller, true));
      return { browser: { inside: true, hostAllowed: wanted.allowHostControl, ...(observerUrl === undefined ? {} : { observerUrl }) } };
    },
  };
}

/** A folder as it is inside, or as it is on the host, that is there; the workspace when none is named. */
async function folderInside({ mounts }: SandboxPlan, workspaceDir: string, workdir: string | undefined): Promise<string | undefined> {
  const [workspace] = mounts;
  if (workdir === undefined) return workspace.inside;
  const asked = posix.resolve(workspace.inside, workdir);
  const views = [
    ...mounts.map((mount) => ({ ...mount, shown: mount.inside })),
    { ...workspace, shown: workspaceDir },
    ...mounts.map((mount) => ({ ...mount, shown: mount.host })),
  ];
  for (const { shown, host, inside } of views) {
    if (!isInside(shown, asked)) continue;
    const rest = asked.slice(resolve(shown).length);
    const found = await stat(join(host, rest)).catch(() => undefined);
    if (found?.isDirectory()) return posix.join(inside, rest);
  }
  return undefined;
}
