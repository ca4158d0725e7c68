import type { Stats } from "node:fs";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { ToolContext } from "../tool.ts";
import type { Availability, SandboxBackend, SandboxPlan } from "./backend.ts";
import { OWN_FOLDER } from "./mounts.ts";
import type { SandboxBackendName } from "./settings.ts";
import { seedSandbox, type SkillFolder } from "./workspace.ts";

/** How long an answer about a backend is believed. */
const FRESH_MS = 10_000;
/** Sandboxes whose last run is remembered. */
const MOST_SEEDED = 500;

type Run = Pick<ToolContext, "agentId" | "runId">;

export interface ReadinessDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly ids: Pick<Ids, "hex">;
  readonly backends: Readonly<Record<SandboxBackendName, SandboxBackend>>;
  readonly skills?: (agentId: string) => Promise<readonly SkillFolder[]>;
}

/** What must be true before anything is run or reached in a sandbox. */
export interface Readiness {
  available(plan: SandboxPlan): Promise<Availability>;
  /** The backend works, the workspace is there and is no link. Throws otherwise. */
  ready(plan: SandboxPlan, run: Run): Promise<void>;
}

export function createReadiness({ clock, ids, backends, skills }: ReadinessDeps): Readiness {
  const worked = new Map<SandboxBackendName, number>();
  const seeded = new Map<string, { readonly runId: string; readonly done: Promise<void> }>();

  async function available(plan: SandboxPlan): Promise<Availability> {
    await makeOwnFolder(plan);
    const { backend } = plan.settings;
    const at = worked.get(backend);
    if (at !== undefined && clock.monotonic() - at < FRESH_MS) return { ok: true };
    const answer = await backends[backend].availability(plan);
    if (answer.ok) worked.set(backend, clock.monotonic());
    else worked.delete(backend);
    return answer;
  }

  /** Once for each run: a later one may bring other files and skills. */
  async function seed(plan: SandboxPlan, { agentId, runId }: Run): Promise<void> {
    const { folder } = plan.scope;
    if (plan.settings.workspaceAccess === "rw") return;
    const last = seeded.get(folder);
    if (last?.runId === runId) return await last.done;
    const done = (async () => {
      const folders = (await skills?.(agentId)) ?? [];
      await seedSandbox({ folder, workspaceDir: plan.workspaceDir, skills: folders, unique: () => ids.hex(6) });
    })();
    seeded.delete(folder);
    seeded.set(folder, { runId, done });
    const [oldest] = seeded.keys();
    if (seeded.size > MOST_SEEDED && oldest !== undefined) seeded.delete(oldest);
    await done.catch((error: unknown) => {
      seeded.delete(folder);
      throw error;
    });
  }

  return {
    available,
    async ready(plan, run) {
      const answer = await available(plan);
      if (!answer.ok) {
        const text = `this session must run in a sandbox (agents.defaults.sandbox, backend ${plan.settings.backend}) and none is available: ${answer.why}; nothing was run`;
        throw new AppError("UNAVAILABLE", text);
      }
      await seed(plan, run);
      await refuseLink(plan);
    },
  };
}

/** The gateway's own folder in a writable workspace is there before anything runs inside, and is a folder: what is not there could be made inside. */
async function makeOwnFolder({ settings, workspaceDir }: SandboxPlan): Promise<void> {
  if (settings.workspaceAccess !== "rw" || !(await found(workspaceDir))) return;
  const folder = join(workspaceDir, OWN_FOLDER);
  const there = (await found(folder)) ?? (await mkdir(folder, { mode: 0o700 }).then(() => found(folder)));
  if (there?.isDirectory() === true) return;
  throw new AppError("PERMISSION_DENIED", `Sandbox security: ${folder} is a link or a file, and would be written from inside; remove it and try again`);
}

const found = (path: string): Promise<Stats | undefined> => lstat(path).catch(() => undefined);

/** What is mounted is the folder itself: a link in its place would mount what it names. */
async function refuseLink({ scope, settings }: SandboxPlan): Promise<void> {
  if (settings.workspaceAccess === "rw" || settings.scope === "shared") return;
  const [real, root] = await Promise.all([realpath(scope.folder), realpath(settings.workspaceRoot)]);
  if (real !== join(root, scope.slug)) throw new AppError("PERMISSION_DENIED", `Sandbox security: ${scope.folder} leads to ${real}; remove it and try again`);
}
