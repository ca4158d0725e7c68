import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { createRootedFiles, type RootedFiles } from "../../base/rooted-files.ts";
import type { FilePlace } from "../builtin/files/place.ts";
import type { StartInput } from "../process/processes.ts";
import type { ToolContext } from "../tool.ts";
import type { ExecToolDeps } from "./deps.ts";

/** In the workspace, so that the session's file tools reach it wherever they work. */
const FOLDER = ".openclaw/outputs";
const MOST_FILES = 20;
const MOST_LISTED = 1000;

/** Writes outputs that are too long to be shown to files of the session's workspace; the newest few stay. */
export function outputKeeper({ clock, log }: ExecToolDeps, { workspaceDir, sessionKey }: ToolContext, place: FilePlace | undefined): StartInput["keepOutput"] {
  const [mount] = place?.mounts ?? [{ host: workspaceDir, writable: true }];
  if (!mount.writable || place?.readOnly === true) return undefined;
  return async (id, output) => {
    const whole = await output.whole();
    if (!whole) return undefined;
    const name = `${new Date(clock.now()).toISOString().replaceAll(/[:.]/g, "-")}-${id}.txt`;
    // Whoever works there may have put links in the way: nothing is written outside.
    const files = createRootedFiles({ root: mount.host, unique: () => `${id}-${clock.now()}` });
    try {
      await files.write(join(mount.host, FOLDER, name), whole.content);
      await tidy(files, mount.host);
      return `${FOLDER}/${name}${whole.complete ? "" : " (its beginning)"}`;
    } catch (error) {
      log.warn(`a long output could not be kept: ${messageOf(error)}`, { sessionKey });
      return undefined;
    }
  };
}

/** Outputs belong to nobody's history. */
async function tidy(files: RootedFiles, root: string): Promise<void> {
  await using folder = await files.folder(join(root, FOLDER));
  const names = (await folder.read(MOST_LISTED)).flatMap(({ name, kind }) => (kind === "file" ? [name] : []));
  if (!names.includes(".gitignore")) await files.write(join(root, FOLDER, ".gitignore"), "*\n");
  const old = names
    .filter((name) => name.endsWith(".txt"))
    .sort()
    .slice(0, -MOST_FILES);
  for (const name of old) await files.remove(join(root, FOLDER, name));
}
