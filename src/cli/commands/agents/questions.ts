import { agentWorkspace } from "../../../config/index.ts";
import { loadRoster } from "../../../agent/index.ts";
import type { Io } from "../../io.ts";
import type { AddValues } from "./add.ts";
import type { AgentsView } from "./source.ts";

interface Known {
  readonly name: string | undefined;
  readonly values: AddValues;
}

/** Asks for what the flags do not say. `left`: the user gave up, and nothing was changed. */
export async function askForAgent(io: Io, view: AgentsView, known: Known): Promise<{ readonly name: string; readonly values: AddValues } | "left"> {
  const [{ openAsker }, { isLeft }, { TEMPLATES }] = await Promise.all([import("../onboard/host.ts"), import("../../../setup/index.ts"), loadRoster()]);
  const ask = await openAsker(io);
  const { values } = known;
  try {
    await ask.intro("Add an agent");
    const refusalOf = (written: string): string | undefined => {
      try {
        view.roster.idFor(written);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    };
    const name = known.name ?? (await ask.text({ message: "Agent name", placeholder: "work", validate: refusalOf }));
    const template =
      values.template ??
      (await ask.select({
        message: "Template",
        options: TEMPLATES.map(({ id, label, summary }) => ({ value: id, label, hint: summary })),
        initialValue: "personal",
      }));
    const usual = agentWorkspace({ agents: { list: [{ id: "main" }] } }, view.context, view.roster.idFor(name));
    const workspace = values.workspace ?? (await ask.text({ message: "Workspace folder", initialValue: usual }));
    const model = values.model ?? ((await ask.text({ message: "Model (empty: the default model)", placeholder: "provider/model" })).trim() || undefined);
    const channels = Object.keys(view.config.channels ?? {}).filter((id) => id !== "defaults" && id !== "modelByChannel");
    const options = channels.map((id) => ({ value: id, label: id }));
    const bind = values.bind ?? (options.length === 0 ? [] : await ask.multiselect({ message: "Which channels should it answer?", options }));
    await ask.outro("Done.");
    return { name, values: { ...values, template, workspace, bind, ...(model === undefined ? {} : { model }) } };
  } catch (error) {
    if (!isLeft(error)) throw error;
    io.err(`${error instanceof Error ? error.message : String(error)}\n`);
    return "left";
  }
}
