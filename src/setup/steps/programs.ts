/** Programs that skills lack: shown, agreed to, and installed when everything else is written. */
import type { SkillStatus } from "../../agent/index.ts";
import type { Setup } from "../context.ts";
import { INSTALLERS, planPrograms, type Plan } from "../programs/plan.ts";

/** What became of one command. */
export interface Installed {
  readonly skill: string;
  readonly command: string;
  readonly ok: boolean;
  /** Why it failed. */
  readonly text?: string;
}

const commandOf = ({ line }: Plan): string => line?.join(" ") ?? "";

/** Asks which programs to install. Returns the confirmed plans; nothing has run yet. */
export async function choosePrograms({ ask, host, draft }: Setup, skills: readonly SkillStatus[]): Promise<readonly Plan[]> {
  const { programs } = host;
  if (!ask || !programs || !skills.some(({ install }) => install.length > 0)) return [];
  const { nodeManager = "npm", preferBrew = true } = draft.config.skills?.install ?? {};
  const { isRoot } = programs;
  const plans = planPrograms(skills, { platform: process.platform, nodeManager, preferBrew, installers: await programs.find(INSTALLERS), isRoot });
  const byHand = plans.flatMap(({ skill, bins, reason }) => (reason === undefined ? [] : [`${skill} needs ${bins.join(", ")}: ${reason}`]));
  if (byHand.length > 0) await ask.note(byHand.join("\n"), "By hand");
  const ready = plans.filter(({ line }) => line !== undefined);
  if (ready.length === 0) return [];
  const chosen = await ask.multiselect<string>({
    message: "Install programs that skills need? (none: not now)",
    options: ready.map((plan) => ({ value: plan.skill, label: `${plan.skill}: ${plan.bins.join(", ")}`, hint: commandOf(plan) })),
    initialValues: [],
  });
  const wanted = ready.filter(({ skill }) => chosen.includes(skill));
  if (wanted.length === 0) return [];
  await ask.note(wanted.map((plan) => `${commandOf(plan)}\n  asked for by ${plan.filePath}`).join("\n"), "What will run");
  const who = isRoot ? "as root, so for the whole machine" : "as you";
  return (await ask.confirm({ message: `Run that at the end, ${who}?`, initialValue: !isRoot })) ? wanted : [];
}

/** Runs the confirmed plans. A failure is reported, and the next one runs. */
export async function installPrograms({ ask, host, notify }: Setup, plans: readonly Plan[]): Promise<readonly Installed[]> {
  const results: Installed[] = [];
  const { programs } = host;
  for (const plan of plans) {
    if (!programs || !plan.line || host.signal.aborted) break;
    const command = commandOf(plan);
    const progress = ask?.progress(command);
    const { ok, text } = await programs.run(plan.line, host.signal);
    progress?.stop(ok ? `Done: ${command}` : `Failed: ${command}`);
    results.push({ skill: plan.skill, command, ok, ...(ok ? {} : { text }) });
  }
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length > 0) await notify(failed.map(({ skill, command, text }) => `${skill} still lacks its program: ${command}\n${text}`).join("\n"));
  return results;
}
