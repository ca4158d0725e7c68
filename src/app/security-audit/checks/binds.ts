import { realpathSync } from "node:fs";
import { posix } from "node:path";
import { isInside } from "../../../base/files.ts";
import { knownSecret } from "../../../tools/index.ts";
import type { AuditContext } from "../finding.ts";

/** Folders of the machine that decide what it does, or show what it does. */
const KEPT = /^\/(?:etc|proc|sys|dev|root|boot|run|var\/run|private\/(?:etc|var\/run))(?:\/|$)/;
/** Whoever can talk to one of these runs anything on this machine. */
const CONTROL_SOCKET = /(?:^|\/)(?:(?:docker|podman|crio|buildkitd)\.sock|containerd(?:\/|\.sock|$)|dockerd(?:\/|$)|dbus(?:\/|$))/;
/** Where a runtime of containers keeps all of them. */
const CONTAINERS = /^\/var\/lib\/(?:docker|containers|containerd|kubelet|rancher)(?:\/|$)/;
const ALL_HOMES = ["/home", "/Users", "/root"];

/** Why a mount of a sandbox gives away this machine; undefined when it does not. Completes "it mounts …, which …". */
export function dangerOf(bind: string, { config, osHome }: Pick<AuditContext, "config" | "osHome">): string | undefined {
  const [written = ""] = bind.split(":");
  if (!posix.isAbsolute(written)) return undefined;
  const plain = posix.normalize(written).replace(/(?<=.)\/+$/, "");
  return [...new Set([plain, realPath(plain)])].map((host) => dangerOfFolder(host, config.paths, osHome)).find((why) => why !== undefined);
}

function dangerOfFolder(host: string, paths: AuditContext["config"]["paths"], osHome: string): string | undefined {
  if (host === "/") return "is the whole machine";
  if (CONTROL_SOCKET.test(host)) return "lets it start anything on this machine";
  const states = [paths.state, realPath(paths.state)];
  if (states.some((state) => isInside(state, host) && isAgents(state, host))) return undefined;
  if (states.some((state) => isInside(state, host) || isInside(host, state))) return "holds the gateway's own state, with its keys and conversations";
  if (isInside(host, paths.file)) return "holds the gateway's configuration";
  if (KEPT.test(host)) return "is one of the machine's own folders";
  if (CONTAINERS.test(host)) return "holds the containers of this machine";
  if ([osHome, paths.home, ...ALL_HOMES].some((home) => isInside(host, home))) return "is a home folder, with logins and start files";
  const secret = knownSecret(host, [osHome, paths.home]);
  return secret === undefined ? undefined : secret.because;
}

/** Folders of the state that exist for agents. */
const isAgents = (state: string, host: string): boolean => /^(?:workspace(?:-[^/]*)?|media|canvas|sandboxes|skills)(?:\/|$)/.test(host.slice(state.length + 1));

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
