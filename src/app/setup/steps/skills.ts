import type { Setup } from "../context.ts";
import { NODE_MANAGERS, type NodeManager } from "../given.ts";

/** Which skills can be used as they are, and with what missing programs are installed. */
export async function setUpSkills({ ask, given, flow, keep, draft, place }: Setup, workspace: string): Promise<void> {
  if (given.nodeManager) draft.merge({ skills: { install: { nodeManager: given.nodeManager } } });
  if (!ask || given.skip?.skills) return;
  const { createSkills } = await import("../../../agent/index.ts");
  const places = () => ({ home: place.osHome, stateFolder: place.config.paths.state });
  using skills = createSkills({ config: () => draft.config, places, env: place.env, platform: process.platform, clock: place.clock });
  const found = (await skills.status(workspace)).skills;
  const ready = found.filter(({ eligible }) => eligible).length;
  if (found.length > 0)
    await ask.note(`${ready} of ${found.length} skills can be used as they are. openclaw skills check says what the others need.`, "Skills");
  const known = draft.config.skills?.install?.nodeManager;
  if (given.nodeManager || flow !== "advanced" || (keep && known !== undefined)) return;
  const nodeManager = await ask.select<NodeManager>({
    message: "With what are Node programs of skills installed?",
    options: NODE_MANAGERS.map((value) => ({ value, label: value })),
    initialValue: known === "pnpm" || known === "bun" ? known : "npm",
  });
  draft.merge({ skills: { install: { nodeManager } } });
}
