import type { SkillStatus } from "../create-skills.ts";
import { waysOf, type DownloadSpec, type InstallWay, type NodeManager } from "./way.ts";

/** The machine that programs are installed on. */
export interface InstallHost {
  readonly platform: string;
  readonly nodeManager: NodeManager;
  readonly preferBrew: boolean;
  /** Those of {@link INSTALLERS} that are on the path. */
  readonly installers: ReadonlySet<string>;
  readonly isRoot: boolean;
  /** Where Homebrew puts programs; programs made by Go go there too. */
  readonly brewBin?: string | undefined;
}

export type InstallStep =
  | { readonly kind: "run"; readonly line: readonly [program: string, ...args: string[]]; readonly env?: Readonly<Record<string, string>> }
  | { readonly kind: "download"; readonly download: DownloadSpec };

/** What installs a program, in order. */
export interface InstallPlan {
  readonly way: InstallWay;
  readonly steps: readonly InstallStep[];
  /** Why nothing can be run here; then there are no steps. */
  readonly blocked?: string | undefined;
}

/** Programs that plans run. */
export const INSTALLERS = ["brew", "npm", "pnpm", "yarn", "bun", "go", "uv", "apt-get", "sudo"] as const;

const NODE_LINES: Readonly<Record<NodeManager, readonly [string, ...string[]]>> = {
  npm: ["npm", "install", "--global", "--ignore-scripts"],
  pnpm: ["pnpm", "add", "--global", "--ignore-scripts"],
  yarn: ["yarn", "global", "add", "--ignore-scripts"],
  bun: ["bun", "add", "--global", "--ignore-scripts"],
};

const NO_BREW = "Homebrew is not installed (https://brew.sh)";
const NO_GO = "Go is not installed (https://go.dev/dl), and neither Homebrew nor apt-get is there to install it";
const NO_UV = "uv is not installed (https://docs.astral.sh/uv), and Homebrew is not there to install it";

const running = (...line: readonly [string, ...string[]]): InstallStep => ({ kind: "run", line });
const canBrew = ({ installers, isRoot }: InstallHost): boolean => installers.has("brew") && !isRoot;

/** What brings Go; undefined when nothing does. */
function goSteps(host: InstallHost): readonly InstallStep[] | undefined {
  const { installers, isRoot } = host;
  if (installers.has("go")) return [];
  if (canBrew(host)) return [running("brew", "install", "go")];
  if (!installers.has("apt-get") || !(isRoot || installers.has("sudo"))) return undefined;
  const apt = (...args: readonly string[]): InstallStep => (isRoot ? running("apt-get", ...args) : running("sudo", "-n", "apt-get", ...args));
  return [apt("update", "-qq"), apt("install", "-y", "golang-go")];
}

function stepsOf(way: InstallWay, host: InstallHost): readonly InstallStep[] | string {
  const { name, download } = way;
  switch (way.kind) {
    case "brew":
      if (!host.installers.has("brew")) return NO_BREW;
      return host.isRoot ? `Homebrew refuses to run as root; as another user: brew install ${name}` : [running("brew", "install", name)];
    case "node":
      if (!host.installers.has(host.nodeManager)) return `${host.nodeManager} is not installed or not on PATH`;
      return [running(...NODE_LINES[host.nodeManager], name)];
    case "go": {
      const first = goSteps(host);
      if (first === undefined) return NO_GO;
      const module = name.includes("@") ? name : `${name}@latest`;
      return [...first, { kind: "run", line: ["go", "install", module], ...(host.brewBin === undefined ? {} : { env: { GOBIN: host.brewBin } }) }];
    }
    case "uv": {
      const install = running("uv", "tool", "install", name);
      if (host.installers.has("uv")) return [install];
      return canBrew(host) ? [running("brew", "install", "uv"), install] : NO_UV;
    }
    default:
      return download ? [{ kind: "download", download }] : "it does not name a download";
  }
}

/** What a way runs on this machine, or why it cannot. */
export function planInstall(way: InstallWay, host: InstallHost): InstallPlan {
  const steps = stepsOf(way, host);
  return typeof steps === "string" ? { way, steps: [], blocked: steps } : { way, steps };
}

/** The documented order. Ways that cannot work on this machine count only when no other can. */
function bestWay(ways: readonly InstallWay[], host: InstallHost): InstallWay | undefined {
  const hasBrew = host.installers.has("brew");
  const order: readonly (InstallWay["kind"] | false)[] = [host.preferBrew && hasBrew && "brew", "uv", "node", hasBrew && "brew", "go", "download", "brew"];
  const first = (from: readonly InstallWay[]): InstallWay | undefined =>
    order.map((kind) => from.find((way) => way.kind === kind)).find((way) => way !== undefined) ?? from[0];
  return first(ways.filter((way) => planInstall(way, host).blocked === undefined)) ?? first(ways);
}

/** What is offered of a skill's `install` list: the best way for this machine, or every download when there is nothing else. */
export function offeredWays(written: readonly unknown[], host: InstallHost): readonly InstallWay[] {
  const ways = waysOf(written, host.platform);
  if (ways.every(({ kind }) => kind === "download")) return ways;
  const best = bestWay(ways, host);
  return best ? [best] : [];
}

/** A step as one would type it. */
export function describeStep(step: InstallStep): string {
  if (step.kind === "run") return [...Object.entries(step.env ?? {}).map(([name, value]) => `${name}=${value}`), ...step.line].join(" ");
  const { url, targetDir, extract } = step.download;
  return `download ${url}${extract ? " and unpack it" : ""}${targetDir === undefined ? "" : ` into ${targetDir}`}`;
}

export const describePlan = ({ steps }: InstallPlan): string => steps.map(describeStep).join(" && ");

/** What one skill lacks, and how it would get it. */
export interface SkillPlan extends InstallPlan {
  readonly skill: Pick<SkillStatus, "name" | "key" | "filePath" | "baseDir">;
  /** Programs that are missing. */
  readonly bins: readonly string[];
}

/** A plan for each skill that lacks nothing but programs and says how to get them. What several need is installed once. */
export function planPrograms(skills: readonly SkillStatus[], host: InstallHost): readonly SkillPlan[] {
  const seen = new Set<string>();
  return skills.flatMap((skill): SkillPlan[] => {
    const { missing, disabled, blockedByAllowlist, eligible, install } = skill;
    const bins = [...missing.bins, ...missing.anyBins];
    if (eligible || disabled || blockedByAllowlist || missing.os.length > 0 || bins.length === 0) return [];
    const helps = ({ bins: brought }: InstallWay): boolean => brought.length === 0 || brought.some((name) => bins.includes(name));
    const way = bestWay(waysOf(install, host.platform).filter(helps), host);
    if (!way) return [];
    const plan = planInstall(way, host);
    const command = describePlan(plan);
    if (command !== "" && seen.has(command)) return [];
    seen.add(command);
    return [{ ...plan, skill, bins }];
  });
}
