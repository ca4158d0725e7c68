import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside } from "../../../base/files.ts";

/** Folders of the state that are there for an agent to write to. */
const FOR_AGENTS = /^(?:workspace(?:-.*)?|skills|media|canvas|sandboxes)$/;

export interface OwnFilesOptions {
  readonly state: string;
  readonly configFile: string;
  /** Where the agent's own files are. */
  readonly workspaceDir: string;
  /** True while the skills in the state decide which programs run unasked: they are no longer an agent's to write then. */
  readonly skillsDecide?: (() => boolean) | undefined;
}

/**
 * Says of a real path why no tool may write it: the configuration, the rules about commands, credentials, sessions and plugins decide what an agent may
 * do, so they are not an agent's to write, wherever its files may lie. Undefined for everything else.
 */
export function ownFiles({ state, configFile, workspaceDir, skillsDecide }: OwnFilesOptions): (path: string) => string | undefined {
  return (path) => {
    const [root, workspace] = [real(state), real(workspaceDir)];
    const config = join(real(dirname(configFile)), basename(configFile));
    if (path !== config && path !== real(configFile)) {
      if (!isInside(root, path)) return undefined;
      if (workspace !== root && isInside(root, workspace) && isInside(workspace, path)) return undefined;
      const [top = ""] = path
        .slice(root.length)
        .split("/")
        .filter((part) => part !== "");
      if (FOR_AGENTS.test(top) && !(top === "skills" && skillsDecide?.() === true)) return undefined;
    }
    return `${path} is one of the gateway's own files; tools do not write there. Ask the operator, or use the gateway's own commands.`;
  };
}

/** Of a path that is not there yet, as far as it is: what will be there is meant as much as what is. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(real(folder), basename(path));
  }
}
