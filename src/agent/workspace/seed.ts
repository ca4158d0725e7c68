import { lstat, open, readdir, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { ensureFolder } from "../../base/files.ts";
import { isRecord } from "../../base/records.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import { BOOTSTRAP_NAMES, type BootstrapName, type TemplateFacts, type WorkspaceFiles } from "./bootstrap-names.ts";

/** How far the first conversation has come. Times are ISO. */
interface WorkspaceState {
  readonly version: 1;
  /** `BOOTSTRAP.md` was there. */
  readonly bootstrapSeededAt?: string;
  /** It has done its work; it does not come back. */
  readonly onboardingCompletedAt?: string;
  /** Where its files came from: one that is deleted comes back as it was. */
  readonly template?: WorkspaceTemplate;
}

/** A template by its id, with what it was filled in with. */
export interface WorkspaceTemplate {
  readonly id: string;
  readonly facts: TemplateFacts;
}

const stateFile = (folder: string): string => join(folder, ".openclaw", "workspace-state.json");

/** The state of a workspace; empty when there is none, undefined when it cannot be understood. */
async function readState(files: RootedFiles, folder: string): Promise<WorkspaceState | undefined> {
  try {
    await using handle = await files.open(stateFile(folder));
    return parseState(await handle.readFile("utf8"));
  } catch (error) {
    return error instanceof AppError && error.code === "NOT_FOUND" ? { version: 1 } : undefined;
  }
}

async function writeState(files: RootedFiles, folder: string, state: WorkspaceState): Promise<void> {
  await files.write(stateFile(folder), `${JSON.stringify(state, null, 2)}\n`);
}

function parseState(text: string): WorkspaceState | undefined {
  try {
    const stored: unknown = JSON.parse(text);
    if (!isRecord(stored)) return stored === null ? undefined : { version: 1 };
    const { bootstrapSeededAt, onboardingCompletedAt } = stored;
    const template = parseTemplate(stored["template"]);
    return {
      version: 1,
      ...(typeof bootstrapSeededAt === "string" ? { bootstrapSeededAt } : {}),
      ...(typeof onboardingCompletedAt === "string" ? { onboardingCompletedAt } : {}),
      ...(template ? { template } : {}),
    };
  } catch {
    return undefined;
  }
}

function parseTemplate(stored: unknown): WorkspaceTemplate | undefined {
  if (!isRecord(stored) || typeof stored["id"] !== "string" || !isRecord(stored["facts"])) return undefined;
  const { facts } = stored;
  const text = (key: string): string => (typeof facts[key] === "string" ? facts[key] : "");
  return { id: stored["id"], facts: { id: text("id"), name: text("name"), emoji: text("emoji"), theme: text("theme") } };
}

/** First contents of a workspace: those of its template; of the personal assistant where it has none, or one that this version does not know. */
async function filesOf(template: WorkspaceTemplate | undefined, { templateFiles }: SeedOptions): Promise<WorkspaceFiles> {
  const found = template && (await templateFiles(template));
  return found ?? (await import("./first-files.ts")).FIRST_FILES;
}

export interface SeedOptions {
  readonly folder: string;
  /** `agents.defaults.skipBootstrap`: the folder is made, and nothing in it. */
  readonly skipBootstrap?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Makes names of temporary files. */
  readonly unique: () => string;
  /** Makes a repository of a brand-new workspace. */
  readonly initRepository?: (folder: string) => Promise<void>;
  /** Where its files come from. It is remembered in the workspace; without it, what is remembered there counts. */
  readonly template?: WorkspaceTemplate | undefined;
  /** The files of a template; undefined for one that is not known. */
  readonly templateFiles: (template: WorkspaceTemplate) => Promise<WorkspaceFiles | undefined>;
}

export interface Seeded {
  /** Names of files that were made now. */
  readonly made: readonly BootstrapName[];
  /** The folder held nothing before. */
  readonly brandNew: boolean;
}

/**
 * Makes the workspace and those of its first files that are missing. Nothing that is there is touched. `BOOTSTRAP.md` is made once: before
 * the first conversation, while no one has filled in `IDENTITY.md` or `USER.md`; when it is gone, that conversation has taken place. A template without
 * one has no such conversation.
 */
export async function seedWorkspace(options: SeedOptions): Promise<Seeded> {
  const { folder } = options;
  ensureFolder(folder);
  const brandNew = await isBrandNew(folder);
  if (options.skipBootstrap) return { made: [], brandNew };
  const rooted = createRootedFiles({ root: folder, unique: options.unique });
  const state = await readState(rooted, folder);
  const files = await filesOf(options.template ?? state?.template, options);
  const made: BootstrapName[] = [];
  for (const name of BOOTSTRAP_NAMES) {
    if (name !== "BOOTSTRAP.md" && (await makeFile(folder, name, files[name]))) made.push(name);
  }
  if (options.template && state) await writeState(rooted, folder, { ...state, template: options.template });
  if (await ritual(options, files)) made.push("BOOTSTRAP.md");
  if (brandNew) await options.initRepository?.(folder);
  return { made, brandNew };
}

/** Takes the first conversation's state a step further; true when its file was made. */
async function ritual(options: SeedOptions, templates: WorkspaceFiles): Promise<boolean> {
  const { folder } = options;
  const files = createRootedFiles({ root: folder, unique: options.unique });
  const state = await readState(files, folder);
  // A state that cannot be read says nothing, and asking again who the user is would be worse than never asking.
  if (!state || state.onboardingCompletedAt !== undefined) return false;
  const stamp = new Date(options.now()).toISOString();
  const there = await exists(join(folder, "BOOTSTRAP.md"));
  if (state.bootstrapSeededAt !== undefined) {
    if (!there) await writeState(files, folder, { ...state, onboardingCompletedAt: stamp });
    return false;
  }
  const text = templates["BOOTSTRAP.md"];
  if (!there && (text === undefined || !(await isUntouched(files, folder, templates)))) {
    await writeState(files, folder, { ...state, onboardingCompletedAt: stamp });
    return false;
  }
  // The stamp comes second: after a crash in between, the file that is there gets it.
  const made = !there && text !== undefined && (await makeFile(folder, "BOOTSTRAP.md", text));
  await writeState(files, folder, { ...state, bootstrapSeededAt: stamp });
  return made;
}

/** True while no one has written down who the agent and its user are. */
async function isUntouched(files: RootedFiles, folder: string, templates: WorkspaceFiles): Promise<boolean> {
  for (const name of ["IDENTITY.md", "USER.md"] as const) {
    try {
      await using handle = await files.open(join(folder, name));
      if ((await handle.readFile("utf8")).trim() !== templates[name].trim()) return false;
    } catch {
      return false;
    }
  }
  return true;
}

/** Makes a file unless something of that name is there, be it a link to nowhere. */
async function makeFile(folder: string, name: BootstrapName, text: string): Promise<boolean> {
  const path = join(folder, name);
  let handle: FileHandle;
  try {
    handle = await open(path, "wx", 0o644);
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw fileError(path, "could not create the workspace file", error);
  }
  await using file = handle;
  await file.writeFile(text);
  return true;
}

/** True when there is nothing in it but folders like `.openclaw` that we make ourselves. */
async function isBrandNew(folder: string): Promise<boolean> {
  const entries = await readdir(folder).catch((error: unknown) => {
    throw fileError(folder, "could not read the workspace", error);
  });
  return entries.every((name) => name === ".openclaw" || name === ".DS_Store");
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
