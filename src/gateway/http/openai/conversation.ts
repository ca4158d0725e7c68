import type { ToolSchema } from "../../../protocol/index.ts";
import { positive, temperatureOf } from "./fields.ts";
import type { ImageSource } from "./images.ts";
import { parseTools } from "./tool-input.ts";

/** One message of a conversation that a caller sends along. */
export interface Turn {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly images?: readonly ImageSource[];
}

/** What a run needs of such a conversation. */
export interface Conversation {
  readonly message: string;
  readonly systemPrompt?: string;
  /** Of the last message of a user. */
  readonly images?: readonly ImageSource[];
}

/** What a request asks of a run besides. */
export interface RunSettings {
  readonly clientTools?: readonly ToolSchema[];
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** Reads tools and limits; what the model is told about its choice of tools joins the system prompt. */
export function parseSettings(body: Readonly<Record<string, unknown>>, system: string[], ...mostTokens: readonly string[]): RunSettings {
  const { clientTools, instruction } = parseTools(body);
  if (instruction !== undefined) system.push(instruction);
  const maxTokens = positive(body, ...mostTokens);
  const temperature = temperatureOf(body);
  return {
    ...(clientTools === undefined ? {} : { clientTools }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

const SPEAKER: Readonly<Record<Turn["role"], string>> = { user: "User", assistant: "Assistant", tool: "Tool result" };

const spoken = ({ role, text, images = [] }: Turn): string => `${SPEAKER[role]}: ${[text, ...images.map(() => "[image]")].filter(Boolean).join(" ")}`;

/** The last message of a user or tool is the one to answer; what came before it is told as text. Undefined when there is none. */
export function composeConversation(turns: readonly Turn[], system: readonly string[]): Conversation | undefined {
  const said = turns.filter((turn) => turn.text.trim() !== "" || turn.images?.length);
  const at = said.findLastIndex((turn) => turn.role !== "assistant");
  const current = said[at];
  if (current === undefined) return undefined;
  const history = said.slice(0, at);
  const systemPrompt = system.filter((text) => text.trim() !== "").join("\n\n");
  const message =
    history.length === 0 ? current.text : `[Earlier in this conversation]\n${history.map(spoken).join("\n")}\n\n[The message to answer]\n${spoken(current)}`;
  const images = said.findLast((turn) => turn.role === "user")?.images ?? [];
  return { message, ...(systemPrompt === "" ? {} : { systemPrompt }), ...(images.length === 0 ? {} : { images }) };
}
