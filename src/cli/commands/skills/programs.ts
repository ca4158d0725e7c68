/** Installs the programs that a skill lacks: through the running gateway, or from here. */
import { join } from "node:path";
import { describePlan, planInstall, waysOf } from "../../../agent/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { createIds } from "../../../base/ids.ts";
import { escapeLine } from "../../../base/printable.ts";
import { systemRandom } from "../../../base/random.ts";
import { isRecord } from "../../../base/records.ts";
import { loadSkillInstall, type InstallProgress, type ProgramOutcome } from "../../../plugins/index.ts";
import { connectTo, timeoutOf } from "../../gateway-call.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { lacksOf, loadSkillsFor, namedSkill, type SkillsView } from "./source.ts";

interface Flags {
  readonly id?: string | undefined;
  readonly timeout?: string | undefined;
  readonly agent?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
  readonly json?: boolean | undefined;
}

const DEFAULT_MS = 300_000;
/** The answer comes after the install has ended. */
const MARGIN_MS = 10_000;

export async function installForSkill(io: Io, name: string, flags: Flags): Promise<number> {
  const view = await loadSkillsFor(io, flags.agent);
  const row = namedSkill(view, name);
  const skill = view.found.find((one) => one.name === row.name);
  const lacks = lacksOf(row);
  if (lacks.length === 0 && flags.id === undefined) {
    if (flags.json) printJson(io, { ok: true, message: "nothing is missing", stdout: "", stderr: "", code: 0 });
    else io.out(`${escapeLine(row.name)} has everything it needs\n`);
    return 0;
  }
  const installId = flags.id ?? row.install[0]?.id;
  const { installHost } = await loadSkillInstall();
  const { platform } = process;
  const way = waysOf(skill?.install ?? [], platform).find(({ id }) => id === installId);
  if (!skill || !way) {
    const ways = row.install.map(({ id, label }) => `${id} (${label})`).join(", ");
    const known = ways === "" ? "it has no installer for this system" : `there are: ${ways}`;
    throw new AppError(
      "NOT_FOUND",
      `${row.name} needs ${lacks.join(", ") || "nothing"}; ${flags.id === undefined ? "" : `no way is called ${JSON.stringify(flags.id)}, `}${known}`,
    );
  }
  const { env } = loadFor(io);
  const plan = planInstall(way, await installHost(view.config, { env, platform }, { withBrewBin: way.kind === "go" }));
  if (plan.blocked !== undefined) throw new AppError("UNAVAILABLE", `${row.name} needs ${lacks.join(", ")}: ${plan.blocked}`);
  const command = describePlan(plan);
  if (flags["dry-run"]) {
    if (flags.json) printJson(io, { ok: true, dryRun: true, installId: way.id, command });
    else io.out(`Would run: ${escapeLine(command)}\n`);
    return 0;
  }
  if (!flags.json)
    io.out(
      `${escapeLine(row.name)} needs ${escapeLine(lacks.join(", ") || "nothing more")}. This runs:\n  ${escapeLine(command)}\n  requested by ${escapeLine(row.filePath)}\n`,
    );
  if (!flags.yes) {
    if (!io.interactive) throw new AppError("INVALID_INPUT", `this runs: ${command}; without a terminal, use --yes to confirm`);
    if (!(await io.confirm("Run it?"))) {
      io.out("No changes made\n");
      return 1;
    }
  }
  using shown = showProgress(io);
  const timeoutMs = timeoutOf(flags, DEFAULT_MS);
  const outcome = view.gateway
    ? await throughGateway(io, view, { name: row.name, installId: way.id, timeoutMs }, shown.report)
    : await (await loadSkillInstall()).installProgram({ plan, skill, timeoutMs, signal: io.signal(), onProgress: shown.report }, localDeps(io, view, env));
  shown.clear();
  return report(io, row.name, outcome, flags.json === true);
}

const localDeps = (_io: Io, { stateDir }: SkillsView, env: Readonly<Record<string, string | undefined>>) => ({
  env,
  platform: process.platform,
  toolsDir: join(stateDir, "tools"),
  pid: process.pid,
  clock: systemClock,
  ids: createIds(systemRandom),
});

async function throughGateway(
  io: Io,
  { gateway }: SkillsView,
  params: { readonly name: string; readonly installId: string; readonly timeoutMs: number },
  onProgress: (progress: InstallProgress) => void,
): Promise<ProgramOutcome> {
  if (!gateway) throw new AppError("UNAVAILABLE", "the gateway stopped answering");
  await using client = await connectTo(io, gateway, params.timeoutMs + MARGIN_MS);
  using _listening = client.on("skills.install.progress", ({ step, steps, command, text }) =>
    onProgress({ step, steps, command, ...(text === undefined ? {} : { text }) }),
  );
  try {
    const { warnings = [], ...outcome } = await client.request("skills.install", params, {
      timeoutMs: params.timeoutMs + MARGIN_MS,
      signal: io.signal(),
    });
    return { ...outcome, warnings };
  } catch (error) {
    const payload = error instanceof AppError ? error.details["payload"] : undefined;
    if (isOutcome(payload)) return { ...payload, warnings: payload.warnings ?? [] };
    throw error;
  }
}

function isOutcome(value: unknown): value is Omit<ProgramOutcome, "warnings"> & { readonly warnings?: readonly string[] } {
  return isRecord(value) && typeof value["ok"] === "boolean" && typeof value["message"] === "string";
}

/** A line that is drawn over on a terminal; elsewhere a line for each step. */
function showProgress(io: Io): Disposable & { readonly report: (progress: InstallProgress) => void; readonly clear: () => void } {
  let step = 0;
  const clear = (): void => (io.interactive ? io.redraw?.("") : undefined);
  return {
    report(progress) {
      const line = `[${progress.step}/${progress.steps}] ${progress.command}`;
      if (io.interactive) io.redraw?.(escapeLine(`${line}${progress.text === undefined ? "" : `: ${progress.text}`}`).slice(0, io.columns - 1));
      else if (progress.step !== step) io.err(`${escapeLine(line)} …\n`);
      step = progress.step;
    },
    clear,
    [Symbol.dispose]: clear,
  };
}

function report(io: Io, name: string, outcome: ProgramOutcome, json: boolean): number {
  if (json) printJson(io, outcome);
  else {
    const style = createStyle(io.color);
    for (const warning of outcome.warnings) io.out(`${style.yellow("warning")} ${escapeLine(warning)}\n`);
    io.out(
      outcome.ok ? style.green(`${escapeLine(`${name}: ${outcome.message}`)}\n`) : `${style.red("failed")} ${escapeLine(`${name}: ${outcome.message}`)}\n`,
    );
  }
  return outcome.ok ? 0 : 1;
}
