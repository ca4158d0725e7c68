import { createHash } from "node:crypto";
import { AppError } from "../../../base/errors.ts";
import { isInside } from "../../../base/files.ts";
import type { SandboxPlan } from "../backend.ts";
import type { DockerSettings } from "../settings.ts";

export interface Labels {
  readonly scopeKey: string;
  readonly createdAtMs: number;
  readonly configHash: string;
}

/** What a browser's container has besides: its image starts the browser itself. */
export interface BrowserShape {
  readonly label: string;
  /** Ports inside, each published on a free port of the loopback interface. */
  readonly publish: readonly number[];
}

type Env = Readonly<Record<string, string>>;

/** Arguments of `docker create`. What would open the container to the host is refused here too, wherever it was let through before. */
export function createArgs(name: string, plan: SandboxPlan, env: Env, labels: Labels, browser?: BrowserShape): readonly string[] {
  const { docker } = plan.settings;
  refuseOpenings(docker);
  const args = ["create", "--name", name];
  const label = (key: string, value: string | number): void => void args.push("--label", `openclaw.${key}=${value}`);
  label("sandbox", 1);
  label("sessionKey", labels.scopeKey);
  label("createdAtMs", labels.createdAtMs);
  label("configHash", labels.configHash);
  if (browser) label(browser.label, 1);
  if (docker.readOnlyRoot) args.push("--read-only");
  for (const folder of docker.tmpfs) args.push("--tmpfs", folder);
  args.push("--network", docker.network);
  if (docker.user) args.push("--user", docker.user);
  for (const capability of docker.capDrop) args.push("--cap-drop", capability);
  args.push("--security-opt", "no-new-privileges");
  if (docker.seccompProfile) args.push("--security-opt", `seccomp=${docker.seccompProfile}`);
  if (docker.apparmorProfile) args.push("--security-opt", `apparmor=${docker.apparmorProfile}`);
  args.push(...limits(docker));
  for (const server of docker.dns ?? []) args.push("--dns", server);
  for (const host of docker.extraHosts ?? []) args.push("--add-host", host);
  for (const [key, value] of Object.entries(env)) args.push("--env", `${key}=${value}`);
  args.push("--workdir", docker.workdir);
  for (const { host, inside, writable } of plan.mounts) args.push("-v", `${host}:${inside}${writable ? "" : ":ro"}`);
  for (const port of browser?.publish ?? []) args.push("-p", `127.0.0.1::${port}`);
  return [...args, docker.image, ...(browser ? [] : ["sleep", "infinity"])];
}

function limits(docker: DockerSettings): readonly string[] {
  const args: string[] = [];
  if (docker.pidsLimit !== undefined) args.push("--pids-limit", String(docker.pidsLimit));
  if (docker.memory !== undefined) args.push("--memory", String(docker.memory));
  if (docker.memorySwap !== undefined) args.push("--memory-swap", String(docker.memorySwap));
  if (docker.cpus !== undefined) args.push("--cpus", String(docker.cpus));
  for (const [name, limit] of Object.entries(docker.ulimits ?? {})) {
    const { soft, hard } = typeof limit === "object" ? limit : {};
    const text = typeof limit === "object" ? [soft ?? hard, hard].filter((part) => part !== undefined).join(":") : String(limit);
    if (text !== "") args.push("--ulimit", `${name}=${text}`);
  }
  return args;
}

function refuseOpenings({ network, seccompProfile, apparmorProfile }: DockerSettings): void {
  const is = (value: string | undefined, word: string): boolean => value?.trim().toLowerCase() === word;
  const bad = is(network, "host")
    ? 'network "host" gives the sandbox this machine\'s network'
    : network.trim().toLowerCase().startsWith("container:")
      ? `network "${network}" joins another container's network`
      : is(seccompProfile, "unconfined")
        ? 'seccomp "unconfined" disables its protection'
        : is(apparmorProfile, "unconfined")
          ? 'apparmor "unconfined" disables its protection'
          : undefined;
  if (bad !== undefined) throw new AppError("PERMISSION_DENIED", `Sandbox security: ${bad}`);
}

/** Tells whether a container was made for these settings. */
export function configHash({ settings, mounts, workspaceDir }: SandboxPlan, more: object = {}): string {
  const sealed = mounts.filter(({ inside, writable }) => !writable && isInside(mounts[0].inside, inside)).map(({ inside }) => inside);
  const facts = {
    docker: settings.docker,
    workspaceAccess: settings.workspaceAccess,
    workspaceDir: mounts[0].host,
    agentWorkspaceDir: workspaceDir,
    ...(sealed.length === 0 ? {} : { sealed }),
    ...more,
  };
  return createHash("sha256").update(sorted(facts)).digest("hex");
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
