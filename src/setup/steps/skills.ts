import type { SkillPlan } from "../../agent/index.ts";
import { bundledSkillsFolder } from "../../base/program-folders.ts";
import type { Setup } from "../context.ts";
import { NODE_MANAGERS, type NodeManager } from "../answers.ts";
import { choosePrograms } from "./programs.ts";

async function chooseNodeManager({ ask, answers, flow, keep, draft }: Setup): Promise<void> {
  const known = draft.config.skills?.install?.nodeManager;
  if (!ask || answers.nodeManager || flow !== "advanced" || (keep && known !== undefined)) return;
  const nodeManager = await ask.select<NodeManager>({
    message: "Package manager for skill programs",
    options: NODE_MANAGERS.map((value) => ({ value, label: value })),
    initialValue: known === "pnpm" || known === "bun" ? known : "npm",
  });
  draft.merge({ skills: { install: { nodeManager } } });
}

/** Which skills can be used as they are, and what shall be installed for the others once everything is written. */
export async function setUpSkills(setup: Setup, workspace: string): Promise<readonly SkillPlan[]> {
  const { ask, answers, draft, host } = setup;
  if (answers.nodeManager) draft.merge({ skills: { install: { nodeManager: answers.nodeManager } } });
  if (!ask || answers.skip?.skills) return [];
  const { createSkills } = await import("../../agent/index.ts");
  const places = () => ({ home: host.osHome, stateFolder: host.config.paths.state, bundled: bundledSkillsFolder(host.env) });
  using skills = createSkills({ config: () => draft.config, places, env: host.env, platform: process.platform, clock: host.clock });
  const found = (await skills.status(workspace)).skills;
  const ready = found.filter(({ eligible }) => eligible).length;
  if (found.length > 0) await ask.note(`${ready} of ${found.length} skills are ready.`, "Skills");
  await chooseNodeManager(setup);
  return choosePrograms(setup, found);
}
