import type { ModelMessage } from "../../protocol/index.ts";
import type { TurnDeps } from "./deps.ts";
import type { TurnInput } from "./input.ts";
import { firstMessages, type PreparedTurn } from "./prepare.ts";

/** What plugins decided before the model is asked. */
export type Gate =
  | { readonly kind: "blocked"; readonly text: string; readonly pluginId: string | undefined }
  /** Answered, or silent on purpose, without the model. */
  | { readonly kind: "replied"; readonly text: string };

const BLOCKED_TEXT = "This message was blocked and not kept.";

/** `before_agent_run`, then `before_agent_reply`. Undefined when the model is to be asked. */
export async function askGates(deps: TurnDeps, input: TurnInput, turn: PreparedTurn): Promise<Gate | undefined> {
  const { hooks } = deps;
  const { context, prompt, systemPrompt } = turn;
  if (!prompt) return undefined;
  const text = promptText(prompt.content);
  const messages = [...firstMessages(turn)] as unknown[];
  if (hooks.has("before_agent_run")) {
    const said = await hooks.run("before_agent_run", { prompt: text, messages, systemPrompt }, context.agent());
    if (said?.outcome === "block") return { kind: "blocked", text: said.message?.trim() || BLOCKED_TEXT, pluginId: said.decidedBy };
  }
  if (hooks.has("before_agent_reply")) {
    const said = await hooks.run("before_agent_reply", { cleanedBody: input.message, prompt: text, messages }, context.agent());
    if (said?.handled) return { kind: "replied", text: said.reply?.text?.trim() ?? "" };
  }
  return undefined;
}

function promptText(content: Extract<ModelMessage, { role: "user" }>["content"]): string {
  return typeof content === "string" ? content : content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}
