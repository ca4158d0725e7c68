/** Programs that skills lack: shown, agreed to, and installed when everything else is written. */
import { describePlan, planPrograms, type SkillPlan, type SkillStatus } from "../../agent/index.ts";
import type { Setup } from "../context.ts";

/** What became of one command. */
export interface Installed {
  readonly skill: string;
  readonly command: string;
  readonly ok: boolean;
  /** Why it failed. */
  readonly text?: string;
}

/** Asks which programs to install. Returns the confirmed plans; nothing has run yet. */
export async function choosePrograms({ ask, host, draft }: Setup, skills: readonly SkillStatus[]): Promise<readonly SkillPlan[]> {
  const { programs } = host;
  if (!ask || !programs || !skills.some(({ install }) => install.length > 0)) return [];
  const machine = await programs.host(draft.config);
  const plans = planPrograms(skills, machine);
  const byHand = plans.flatMap(({ skill, bins, blocked }) => (blocked === undefined ? [] : [`${skill.name} needs ${bins.join(", ")}: ${blocked}`]));
  if (byHand.length > 0) await ask.note(byHand.join("\n"), "Install manually");
  const ready = plans.filter(({ blocked }) => blocked === undefined);
  if (ready.length === 0) return [];
  const chosen = await ask.multiselect<string>({
    message: "Install programs that skills need? (optional)",
    options: ready.map((plan) => ({ value: plan.skill.name, label: `${plan.skill.name}: ${plan.bins.join(", ")}`, hint: describePlan(plan) })),
    initialValues: [],
  });
  const wanted = ready.filter(({ skill }) => chosen.includes(skill.name));
  if (wanted.length === 0) return [];
  await ask.note(wanted.map((plan) => `${describePlan(plan)}\n  requested by ${plan.skill.filePath}`).join("\n"), "Commands to run");
  const who = machine.isRoot ? "as root, for the whole machine" : "as you";
  return (await ask.confirm({ message: `Run these commands at the end, ${who}?`, initialValue: !machine.isRoot })) ? wanted : [];
}

/** Runs the confirmed plans. A failure is reported, and the next one runs. */
export async function installPrograms({ ask, host, notify }: Setup, plans: readonly SkillPlan[]): Promise<readonly Installed[]> {
  const results: Installed[] = [];
  const { programs } = host;
  for (const plan of plans) {
    if (!programs || host.signal.aborted) break;
    const command = describePlan(plan);
    const progress = ask?.progress(command);
    const { ok, text } = await programs.install(plan, host.signal, (line) => progress?.update(line));
    progress?.stop(ok ? `Done: ${command}` : `Failed: ${command}`);
    results.push({ skill: plan.skill.name, command, ok, ...(ok ? {} : { text }) });
  }
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length > 0) await notify(failed.map(({ skill, command, text }) => `${skill} still needs its program: ${command}\n${text}`).join("\n"));
  return results;
}
