import type { SkillStatus } from "../../agent/index.ts";
import { waysOf, type InstallerName, type Way } from "./way.ts";

/** What one skill lacks, and how it would get it. */
export interface Plan {
  readonly skill: string;
  readonly filePath: string;
  /** Programs that are missing. */
  readonly bins: readonly string[];
  /** What would run; undefined: a person has to do it. */
  readonly line?: readonly [program: string, ...args: string[]] | undefined;
  /** Why it is not run here. */
  readonly reason?: string | undefined;
}

export interface Host {
  readonly platform: string;
  readonly nodeManager: InstallerName;
  readonly preferBrew: boolean;
  /** Installers that are on the path. */
  readonly installers: ReadonlySet<string>;
  readonly isRoot: boolean;
}

export const INSTALLERS = ["brew", "npm", "pnpm", "yarn", "bun", "go", "uv"] as const;

const WHERE: Readonly<Record<string, string>> = {
  brew: "Homebrew is not installed (https://brew.sh)",
  go: "Go is not installed (https://go.dev/dl)",
  uv: "uv is not installed (https://docs.astral.sh/uv)",
};

const programOf = ({ line }: Way): string => line?.[0] ?? "";

/** The way that is best here: Homebrew where it is at home, then what needs the least, then what cannot be done without a person. */
function best(ways: readonly Way[], { installers, preferBrew }: Host): Way | undefined {
  const brew = (way: Way): boolean => way.kind === "brew" && installers.has("brew");
  const here = (kind: Way["kind"]) => (way: Way) => way.kind === kind && installers.has(programOf(way));
  const orders = [...(preferBrew ? [brew] : []), here("uv"), here("node"), brew, here("go")];
  return orders.map((fits) => ways.find(fits)).find((way) => way !== undefined) ?? ways.find(({ line }) => line !== undefined) ?? ways[0];
}

function planOf(skill: SkillStatus, bins: readonly string[], host: Host): Plan | undefined {
  const helps = ({ bins: brought }: Way): boolean => brought.length === 0 || brought.some((name) => bins.includes(name));
  const way = best(waysOf(skill.install, host.platform, host.nodeManager).filter(helps), host);
  const plan = { skill: skill.name, filePath: skill.filePath, bins };
  if (!way) return undefined;
  if (!way.line) return { ...plan, reason: `download it: ${way.url}` };
  const [program] = way.line;
  if (!host.installers.has(program)) return { ...plan, reason: WHERE[program] ?? `${program} is not installed or not on PATH` };
  if (program === "brew" && host.isRoot) return { ...plan, reason: `Homebrew refuses to run as root; as another user: ${way.line.join(" ")}` };
  return { ...plan, line: way.line };
}

/** For each skill that lacks nothing but programs. What several need is installed once. */
export function planPrograms(skills: readonly SkillStatus[], host: Host): readonly Plan[] {
  const lines = new Set<string>();
  return skills.flatMap((skill) => {
    const { missing, disabled, blockedByAllowlist, eligible } = skill;
    const bins = [...missing.bins, ...missing.anyBins];
    if (eligible || disabled || blockedByAllowlist || missing.os.length > 0 || bins.length === 0) return [];
    const plan = planOf(skill, bins, host);
    if (!plan || lines.has(plan.line?.join(" ") ?? "")) return [];
    if (plan.line) lines.add(plan.line.join(" "));
    return [plan];
  });
}
