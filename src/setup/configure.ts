/** Parts of the setup, done again. */
import { left, type Asker } from "./asker.ts";
import type { Setup } from "./context.ts";
import { createDraft, type Committed } from "./draft.ts";
import type { SetupHost } from "./host.ts";
import { stampRun } from "./stamp.ts";
import { requireValidFile } from "./steps/begin.ts";
import { setUpChannels } from "./steps/channels.ts";
import { setUpGateway } from "./steps/gateway.ts";
import { setUpModel } from "./steps/model/index.ts";
import { installPrograms } from "./steps/programs.ts";
import { applyService, chooseService } from "./steps/service.ts";
import { setUpSkills } from "./steps/skills.ts";
import { setUpWeb } from "./steps/web.ts";
import { chooseWorkspace, seedFolders } from "./steps/workspace.ts";
import { workspaceOf } from "./reset.ts";

export const SECTIONS = ["workspace", "model", "web", "gateway", "daemon", "channels", "skills", "health"] as const;
export type Section = (typeof SECTIONS)[number];

const LABELS: Readonly<Record<Section, string>> = {
  workspace: "Workspace: folder of the agent's files",
  model: "Model: credentials and default model",
  web: "Web: search and page fetching",
  gateway: "Gateway: port, address, credentials",
  daemon: "Service: start the gateway with this machine",
  channels: "Channels: Telegram, WhatsApp, Slack and others",
  skills: "Skills: requirements",
  health: "Health: check the gateway",
};

const STEPS: Readonly<Record<Exclude<Section, "daemon" | "health" | "skills">, (setup: Setup) => Promise<unknown>>> = {
  workspace: chooseWorkspace,
  model: setUpModel,
  web: setUpWeb,
  gateway: setUpGateway,
  channels: setUpChannels,
};

export interface ConfigureResult {
  readonly sections: readonly Section[];
  readonly committed: Committed;
}

/** Each section is written when it is done: who leaves in the middle of one keeps those before it. */
export async function configure(host: SetupHost, ask: Asker, wanted: readonly Section[], command = "configure"): Promise<ConfigureResult> {
  requireValidFile(host, {});
  const notify = (text: string): Promise<void> => ask.note(text);
  const done: Section[] = [];
  const files = new Set<string>();
  for (const section of wanted.length > 0 ? wanted : await chooseSections(ask)) {
    const draft = createDraft(host);
    const setup: Setup = { host, draft, ask, answers: {}, flow: "advanced", keep: false, notify };
    if (section === "daemon") {
      await applyService(setup, await chooseService(setup));
    } else if (section === "health") await notify((await host.health?.()) ?? "The gateway is not running. Start it with: openclaw gateway");
    else {
      const programs = section === "skills" ? await setUpSkills(setup, workspaceOf(host, draft.config)) : [];
      if (section !== "skills") await STEPS[section](setup);
      stampRun(setup, command, draft.config.gateway?.mode ?? "local");
      for (const file of (await draft.commit(`setup ${command}`)).files) files.add(file);
      await installPrograms(setup, programs);
      if (section === "workspace") await seedFolders(host, workspaceOf(host));
    }
    done.push(section);
  }
  return { sections: done, committed: { files: [...files], removed: [] } };
}

async function chooseSections(ask: Asker): Promise<readonly Section[]> {
  const chosen = await ask.multiselect<Section>({
    message: "What do you want to configure?",
    options: SECTIONS.map((value) => ({ value, label: LABELS[value] })),
    initialValues: [],
  });
  if (chosen.length === 0) throw left();
  return SECTIONS.filter((section) => chosen.includes(section));
}
