import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { asksChats, type Config, type Env } from "../../config/index.ts";
import type { Approvals } from "../approvals/approvals.ts";
import type { ExecRules } from "../exec/rules-file.ts";
import { execSettings } from "../exec/settings.ts";
import type { ToolContext } from "../tool.ts";
import { createFileAccess, type FileAccess, sealedError } from "./file-access.ts";
import { createFolderGrants } from "./grants.ts";
import { fileRules, ownPlaces } from "./own-places.ts";
import type { CheckAccess } from "../../base/rooted-files.ts";
import { createHardLinks } from "./hard-links.ts";
import { createSealed, createSealedTable } from "./sealed.ts";

export interface OpenFileAccessDeps {
  readonly config: Config;
  readonly env: Env;
  readonly home: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly workspaceOf: (agentId: string) => string;
  readonly approvals: Approvals;
  readonly execRules: ExecRules;
  /** False while no client is connected that decides about questions. */
  readonly askable?: (() => boolean) | undefined;
  /** Has a secret masked from now on. */
  readonly register: (secret: string) => void;
}

/** Decides which files tools may reach, and has secrets masked that stand in files which the configuration names. */
export function openFileAccess(deps: OpenFileAccessDeps, stack: AsyncDisposableStack): FileAccess {
  const { config, env, home, clock, ids, log, workspaceOf, approvals, execRules } = deps;
  const own = ownPlaces({ config, env, home, cwd: process.cwd(), uid: process.getuid?.(), workspaceOf });
  const registerSecrets = (): void => registerSecretFiles(own().secrets, deps.register);
  registerSecrets();
  stack.use(config.onEvent(registerSecrets));
  const { state, home: ownHome } = config.paths;
  return createFileAccess({
    own,
    rules: (agentId) => fileRules(config.current, agentId, ownHome),
    shared: [join(state, "media"), join(state, "canvas")],
    skillsDecide: (agentId) => execRules.effective(agentId, execSettings(config.current, agentId)).autoAllowSkills,
    grants: createFolderGrants({ path: join(state, "file-approvals.json"), clock, ids, log, homes: [home, ownHome] }),
    approvals,
    unasked: (context) => unasked(deps, context),
    log,
    ignoreCase: process.platform === "win32" || process.platform === "darwin",
  });
}

/** Sessions that no conversation belongs to. */
const UNATTENDED = /(?:^|:)(?:cron|hook):/;

/** Why nobody can be asked about a call; undefined when someone can. */
export function unasked({ askable, config }: Pick<OpenFileAccessDeps, "askable" | "config">, { sessionKey, unattended }: ToolContext): string | undefined {
  if (unattended === true || UNATTENDED.test(sessionKey)) return "approval is not possible during a scheduled or automatic run";
  if (asksChats(config.current) || askable?.() !== false) return undefined;
  return "approval is not possible: no client that handles approvals is connected, and approvals.exec does not forward requests to chats";
}

/** Longer files are not secrets by themselves. */
const MOST_BYTES = 64 * 1024;

/** Registers what files hold that the configuration names for a secret, so that it is masked before anything reads it. Folders are skipped. */
function registerSecretFiles(paths: readonly string[], register: (secret: string) => void): void {
  for (const path of paths) {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() && stat.size <= MOST_BYTES) textsIn(readFileSync(path, "utf8")).forEach(register);
    } catch {
      // The reader of the secret reports why it cannot be read.
    }
  }
}

/** The file itself, or every text in it where it is JSON. */
function textsIn(text: string): readonly string[] {
  try {
    return leaves(JSON.parse(text));
  } catch {
    return [text.trim()];
  }
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}

export interface SealedCheckDeps {
  readonly config: Pick<Config, "current" | "paths" | "sources">;
  readonly env: Env;
  readonly home: string;
}

/** Refuses sealed places and nothing else: for those who name the folders that may be reached themselves. */
export function createSealedCheck({ config, env, home }: SealedCheckDeps): CheckAccess {
  const own = ownPlaces({
    config,
    env,
    home,
    cwd: process.cwd(),
    uid: process.getuid?.(),
    workspaceOf: () => join(config.paths.state, "workspace"),
  });
  const ignoreCase = process.platform === "win32" || process.platform === "darwin";
  return (path, access, stat) => {
    const table = createSealedTable(own(), ignoreCase);
    const sealed = createSealed(table, { agentId: "main", roots: [], unsealed: fileRules(config.current, "main", home).unseal });
    const place =
      sealed(path, access) ?? (access === "read" && stat !== undefined && stat.nlink > 1 ? createHardLinks(table, sealed).findSealed(stat) : undefined);
    if (place) throw sealedError(path, place, access);
  };
}
