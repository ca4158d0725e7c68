import type { ReplyPayload } from "../../../protocol/index.ts";
import type { ChoiceChange } from "../../../tools/index.ts";
import { askerOf } from "../authority.ts";
import type { TurnHints } from "../commands.ts";
import type { Handling } from "../handling.ts";
import { modelDirective } from "../models/directive.ts";
import type { Directives, Shortcut } from "../parsing/directives.ts";
import { exec, judged, queue } from "../settings/exec-and-queue.ts";
import { elevated, reasoning, think, verbose } from "../settings/levels.ts";
import { help, commands, whoami } from "./help.ts";
import { status } from "./status.ts";

/** Stores settings that stand alone in a message, in their fixed order. One acknowledgement for all. */
export async function applySettings(handling: Handling, wished: Directives): Promise<ReplyPayload> {
  const said: string[] = [];
  if (wished.think) said.push(await think(handling, wished.think));
  if (wished.verbose) said.push(await verbose(handling, wished.verbose));
  if (wished.reasoning) said.push(await reasoning(handling, wished.reasoning));
  if (wished.elevated) said.push(await elevated(handling, wished.elevated));
  if (wished.exec) said.push(await exec(handling, wished.exec));
  const model = wished.model && (await modelDirective(handling, wished.model.value ?? wished.model.word));
  if (model) said.push(model.text);
  if (wished.queue) said.push(await queue(handling, wished.queue));
  const answers = await Promise.all(wished.shortcuts.map((name) => shortcut(handling, name)));
  const text = [said.join(" "), ...answers].filter((part) => part !== "").join("\n");
  return { text, ...(model?.channelData && said.length === 1 ? { channelData: model.channelData } : {}) };
}

const allows = async (handling: Handling, name: "exec" | "elevated", change: ChoiceChange): Promise<boolean> =>
  (await judged(name, handling, change)).kind === "allowed";

/** What senders may set who may write and not give commands: settings that do nothing but narrow how commands run, and `/elevated` whom it names. */
export async function maySet(handling: Handling, { shortcuts, exec: run, elevated: above, ...others }: Directives): Promise<boolean> {
  if (shortcuts.length > 0 || Object.keys(others).length > 0) return false;
  if (above && !run && askerOf("elevated", handling).named === true) return true;
  const change: ChoiceChange = { ...run?.change, ...(above?.value === undefined ? {} : { elevatedLevel: above.value }) };
  if (Object.keys(change).length === 0 || (run && run.wrong.length > 0) || (above && above.value === undefined)) return false;
  const verdict = await judged("exec", handling, change);
  return verdict.kind === "allowed" && !verdict.widens;
}

/** The answer to a question that stood inside of a text. */
export async function shortcut(handling: Handling, name: Shortcut): Promise<string> {
  const handlers = { help, commands, status, whoami };
  const answer = await handlers[name]({ ...handling, name, args: "" });
  return typeof answer === "string" ? answer : "";
}

/** Settings that stood inside of other text hold for that one message. What may not be set there is left out and noted. */
export async function hintsOf(handling: Handling, wished: Directives): Promise<{ readonly hints: TurnHints; readonly notes: readonly string[] }> {
  const { call, ports } = handling;
  const notes: string[] = [];
  const unheard = call.isGroup && !call.wasMentioned;
  const { verbose: loud, reasoning: reason, elevated: above, exec: run, model, queue: wait } = wished;
  const heardRise = above?.value === "off" || (!unheard && ports.elevation(call).permitted);
  const mayRise = heardRise && above?.value !== undefined && (await allows(handling, "elevated", { elevatedLevel: above.value }));
  const heardRun = run?.change.execSecurity === "deny" || !unheard;
  const mayRun = heardRun && run !== undefined && (await allows(handling, "exec", { ...run.change }));
  if (above?.value && !mayRise) notes.push(`/elevated was ignored: ${unheard ? "the agent was not mentioned" : "it is not permitted here"}`);
  if (run && !mayRun) notes.push(`/exec was ignored: ${heardRun ? "the sender is not allowed to loosen exec settings" : "the agent was not mentioned"}`);
  const hints: TurnHints = {
    ...(loud?.value ? { verbose: loud.value } : {}),
    ...(reason?.value ? { reasoning: reason.value } : {}),
    ...(above?.value && mayRise ? { elevated: above.value } : {}),
    ...(model?.value ? { model: model.value } : {}),
    ...(run && mayRun && Object.keys(run.change).length > 0 ? { exec: { ...run.change } } : {}),
    ...(wait && Object.keys(wait.change).length > 0 ? { queue: { ...wait.change } } : {}),
  };
  for (const [name, value] of Object.entries(hints)) notes.push(`for this message: ${name} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return { hints, notes };
}
