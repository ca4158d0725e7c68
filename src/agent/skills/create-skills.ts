import type { Clock } from "../../base/clock.ts";
import type { Env, OpenClawConfig } from "../../config/index.ts";
import { eligibilityOf, neededPrograms, type RemoteHosts, type SkillGates, type Eligibility } from "./eligibility.ts";
import { skillLimits } from "./limits.ts";
import { createSkillCache, loadSkills, type LoadedSkills, type SkillProblem } from "./load-skills.ts";
import { createProgramFinder } from "./programs.ts";
import { skillRoots, type SkillLocations } from "./roots.ts";
import type { Skill } from "./skill.ts";
import { buildSnapshot, heldSnapshot, type SkillsSnapshot } from "./snapshot.ts";
import type { SkillWatch, WatchFolder } from "./watch-skills.ts";
import { inheritedEnvironment } from "../../base/inherited-environment.ts";

/**
 * Variables that a session's skills bring: `skills.entries.<key>.env`, and `apiKey` under the skill's primary variable. What commands inherit already
 * is left as it is, a variable that the configuration names has the value that `env` gives it, and of two skills the first counts. A skill's file alone
 * brings nothing: an agent may have written it. They are for the commands of the session's turns and stay out of our own environment.
 */
export function skillEnvironment(snapshot: Pick<SkillsSnapshot, "skills">, config: OpenClawConfig, env: Env): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  let inherited: Readonly<Record<string, string>> | undefined;
  const add = (name: string | undefined, value: unknown): void => {
    if (name === undefined || typeof value !== "string" || value === "" || variables.has(name)) return;
    inherited ??= inheritedEnvironment(env, config.tools?.exec?.passEnv);
    if (!inherited[name]) variables.set(name, value);
  };
  for (const { name, skillKey, primaryEnv } of snapshot.skills) {
    const entry = config.skills?.entries?.[skillKey ?? name];
    for (const [variable, value] of Object.entries(entry?.env ?? {})) add(variable, env[variable] || value);
    add(primaryEnv, entry?.apiKey);
  }
  return Object.fromEntries(variables);
}

export interface SkillsDeps {
  /** The configuration as it is now. */
  readonly config: () => OpenClawConfig;
  /** Where the skills of a workspace are, plugins' folders included. Asked each time. */
  readonly places: (workspace: string) => Omit<SkillLocations, "workspace" | "extra">;
  readonly env: Env;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  /** Paired computers, and which of these programs they have. Asked each time. */
  readonly remote?: (programs: readonly string[]) => Promise<RemoteHosts | undefined>;
  readonly watchFolder?: WatchFolder;
  /** Notified once about each file that is no skill, or an odd one. */
  readonly onProblem?: (problem: SkillProblem) => void;
}

export interface SnapshotRequest {
  readonly workspace: string;
  /** `skillsSnapshot` of the session's entry. */
  readonly stored?: unknown;
  /** The agent's or the channel's list. */
  readonly filter?: readonly string[] | undefined;
}

export interface SkillStatus extends Skill, Eligibility {}

export interface Skills extends Disposable {
  /** The session's snapshot: the stored one while it holds, else a new one. The first call for a workspace starts watching it. */
  snapshot(request: SnapshotRequest): Promise<SkillsSnapshot>;
  /** Every skill that was found and whether it can be offered. */
  status(workspace: string): Promise<{ readonly skills: readonly SkillStatus[]; readonly problems: readonly SkillProblem[] }>;
  /** Variables for the commands of a turn. */
  environment(snapshot: SkillsSnapshot): Readonly<Record<string, string>>;
  /** The configuration, a plugin or a paired computer changed: every session's next turn looks again. */
  changed(): void;
}

const DEBOUNCE_MS = 250;
const MOST_REPORTED = 1000;

/** Sessions that begin while the files of a workspace are read share what is found. */
function shareLoads<T>(load: (workspace: string) => Promise<T>) {
  const loading = new Map<string, Promise<T>>();
  return {
    load(workspace: string): Promise<T> {
      const before = loading.get(workspace);
      if (before) return before;
      const now = load(workspace).finally(() => {
        if (loading.get(workspace) === now) loading.delete(workspace);
      });
      loading.set(workspace, now);
      return now;
    },
    forget: (): void => loading.clear(),
  };
}

export function createSkills(deps: SkillsDeps): Skills {
  const watches = new Map<string, SkillWatch>();
  const cache = createSkillCache();
  const findNeeded = createProgramFinder(deps.env, deps.platform);
  // A start counts as a change: nothing was watched before it.
  let version = deps.clock.now();
  let closed = false;
  const reported = new Set<string>();

  function report(problem: SkillProblem): void {
    const key = `${problem.path}\0${problem.message}`;
    if (reported.has(key) || reported.size >= MOST_REPORTED) return;
    reported.add(key);
    deps.onProblem?.(problem);
  }

  function raise(): void {
    version = Math.max(deps.clock.now(), version + 1);
  }

  function stopWatching(): void {
    for (const watch of watches.values()) watch[Symbol.dispose]();
    watches.clear();
  }

  const rootsOf = (workspace: string) => skillRoots({ ...deps.places(workspace), workspace, extra: deps.config().skills?.load?.extraDirs });

  async function watched(workspace: string): Promise<void> {
    const { load } = deps.config().skills ?? {};
    if (load?.watch === false) return;
    if (!watches.has(workspace)) {
      const { ensureRoot, watchSkills } = await import("./watch-skills.ts");
      const roots = rootsOf(workspace).filter((root) => root.source !== "openclaw-bundled");
      // Watched in its place would be the state folder, which changes with every message.
      await ensureRoot(roots.find((root) => root.source === "openclaw-managed")?.folder);
      if (closed || watches.has(workspace)) return watches.get(workspace)?.idle();
      const watch = watchSkills({
        roots: roots.map((root) => root.folder),
        clock: deps.clock,
        debounceMs: load?.watchDebounceMs ?? DEBOUNCE_MS,
        maxCandidates: skillLimits(deps.config()).maxCandidatesPerRoot,
        onChange: raise,
        watchFolder: deps.watchFolder,
      });
      watches.set(workspace, watch);
    }
    await watches.get(workspace)?.idle();
  }

  async function load(workspace: string): Promise<LoadedSkills & { readonly gates: SkillGates }> {
    const config = deps.config();
    const loaded = await loadSkills(rootsOf(workspace), skillLimits(config), cache);
    const needed = [...neededPrograms(loaded.skills)];
    const [programs, remote] = await Promise.all([findNeeded(needed), deps.remote?.(needed)]);
    return { ...loaded, gates: { config, env: deps.env, platform: deps.platform, programs, remote } };
  }

  const together = shareLoads(async (workspace) => {
    // Taken before the files are read: a change while they are is a change.
    const at = version;
    return { ...(await load(workspace)), at };
  });

  return {
    async snapshot({ workspace, stored, filter }) {
      await watched(workspace);
      const held = heldSnapshot(stored, version, filter);
      if (held) return held;
      const { at, skills, gates, problems } = await together.load(workspace);
      problems.forEach(report);
      return buildSnapshot(skills, { gates, home: deps.places(workspace).home, version: at, filter });
    },

    async status(workspace) {
      const { skills, problems, gates } = await load(workspace);
      return { skills: skills.map((skill) => ({ ...skill, ...eligibilityOf(skill, gates) })), problems };
    },

    environment: (snapshot) => skillEnvironment(snapshot, deps.config(), deps.env),

    changed() {
      raise();
      together.forget();
      // Places may be others now; the next turn watches those.
      stopWatching();
    },

    [Symbol.dispose]() {
      closed = true;
      stopWatching();
    },
  };
}
