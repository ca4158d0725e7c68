import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import type { RootedFiles } from "../../base/rooted-files.ts";

/** How far the first conversation has come. Times are ISO. */
export interface WorkspaceState {
  readonly version: 1;
  /** `BOOTSTRAP.md` was there. */
  readonly bootstrapSeededAt?: string;
  /** It has done its work; it does not come back. */
  readonly onboardingCompletedAt?: string;
}

export const stateFile = (folder: string): string => join(folder, ".openclaw", "workspace-state.json");

/** The state of a workspace; empty when there is none, undefined when it cannot be understood. */
export async function readState(files: RootedFiles, folder: string): Promise<WorkspaceState | undefined> {
  try {
    await using handle = await files.open(stateFile(folder));
    return parseState(await handle.readFile("utf8"));
  } catch (error) {
    return error instanceof AppError && error.code === "NOT_FOUND" ? { version: 1 } : undefined;
  }
}

export async function writeState(files: RootedFiles, folder: string, state: WorkspaceState): Promise<void> {
  await files.write(stateFile(folder), `${JSON.stringify(state, null, 2)}\n`);
}

function parseState(text: string): WorkspaceState | undefined {
  try {
    const { bootstrapSeededAt, onboardingCompletedAt } = JSON.parse(text) as Record<string, unknown>;
    return {
      version: 1,
      ...(typeof bootstrapSeededAt === "string" ? { bootstrapSeededAt } : {}),
      ...(typeof onboardingCompletedAt === "string" ? { onboardingCompletedAt } : {}),
    };
  } catch {
    return undefined;
  }
}
