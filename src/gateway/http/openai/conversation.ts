import type { ToolSchema } from "../../../protocol/index.ts";
import { isRecord } from "../../../base/records.ts";
import { positive, temperatureOf } from "./fields.ts";
import type { FileSource } from "./file-sources.ts";
import type { ImageSource } from "./images.ts";
import { invalid, unsupported } from "./refusal.ts";

/** The caller's own tools for one run, and the instructions for using them. */
interface ToolInput {
  readonly clientTools?: readonly ToolSchema[];
  readonly instruction?: string;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_TOOLS = 128;
const NO_PARAMETERS = { type: "object", properties: {} };

/** `chat`: what a tool is stands under `function`. `responses`: it stands beside `type`, and the other form is taken too. */
function toolAt(tool: unknown, at: string): ToolSchema {
  if (!isRecord(tool)) throw invalid(`${at} must be an object`, at);
  if (tool["type"] !== "function") throw unsupported(`tools of type ${JSON.stringify(tool["type"] ?? null)}`, at);
  const { name, description = "", parameters } = isRecord(tool["function"]) ? tool["function"] : tool;
  if (typeof name !== "string" || !NAME.test(name)) throw invalid(`${at}: a function's name has 1 to 64 letters, digits, "_" and "-"`, at);
  if (description !== null && typeof description !== "string") throw invalid(`${at}: description must be a string`, at);
  if (parameters !== undefined && parameters !== null && !isRecord(parameters)) throw invalid(`${at}: parameters must be a JSON Schema`, at);
  return { name, description: description ?? "", parameters: parameters ?? NO_PARAMETERS };
}

function toolsOf(value: unknown): readonly ToolSchema[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("`tools` must be a list", "tools");
  if (value.length > MAX_TOOLS) throw invalid(`\`tools\` may have ${MAX_TOOLS} entries, not ${value.length}`, "tools");
  const tools = value.map((tool, index) => toolAt(tool, `tools[${index}]`));
  const twice = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) !== index);
  if (twice) throw invalid(`\`tools\` has two functions named ${twice.name}`, "tools");
  return tools;
}

/** The function that a choice names. */
function chosenName(choice: unknown): string | undefined {
  if (!isRecord(choice) || choice["type"] !== "function") return undefined;
  const { name } = isRecord(choice["function"]) ? choice["function"] : choice;
  return typeof name === "string" ? name : undefined;
}

/** Reads `tools` and `tool_choice`. With `none` the model is shown no tool of the caller's; with a function it is shown that one. */
function parseTools(body: Readonly<Record<string, unknown>>): ToolInput {
  const choice = body["tool_choice"] ?? "auto";
  if (choice === "none") return {};
  const tools = toolsOf(body["tools"]);
  if (choice === "auto") return tools.length === 0 ? {} : { clientTools: tools };
  if (choice === "required") {
    if (tools.length === 0) throw invalid("`tool_choice` is required, but there are no `tools`", "tool_choice");
    return { clientTools: tools, instruction: `Call one of these tools before you answer: ${tools.map(({ name }) => name).join(", ")}.` };
  }
  const name = chosenName(choice);
  if (name === undefined) throw invalid("`tool_choice` must be auto, none, required or a function", "tool_choice");
  const tool = tools.find((known) => known.name === name);
  if (!tool) throw invalid(`\`tool_choice\` names a function that is not among \`tools\`: ${name.slice(0, 80)}`, "tool_choice");
  return { clientTools: [tool], instruction: `Call the tool ${name} before you answer.` };
}

/** One message of a conversation that a caller sends along. */
export interface Turn {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
  readonly images?: readonly ImageSource[];
  readonly files?: readonly FileSource[];
}

/** What a run needs of such a conversation. */
export interface Conversation {
  readonly message: string;
  readonly systemPrompt?: string;
  /** Of the last message of a user. */
  readonly images?: readonly ImageSource[];
  readonly files?: readonly FileSource[];
}

/** What a request asks of a run besides. */
export interface RunSettings {
  readonly clientTools?: readonly ToolSchema[];
  readonly maxTokens?: number;
  readonly temperature?: number;
}

/** Reads tools and limits; instructions about the choice of tools join the system prompt. */
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

const spoken = ({ role, text, images = [], files = [] }: Turn): string =>
  `${SPEAKER[role]}: ${[text, ...images.map(() => "[image]"), ...files.map(() => "[file]")].filter(Boolean).join(" ")}`;

/** The last message of a user or tool is the one to answer; earlier ones are passed as text. Undefined when there is none. */
export function composeConversation(turns: readonly Turn[], system: readonly string[]): Conversation | undefined {
  const said = turns.filter((turn) => turn.text.trim() !== "" || turn.images?.length || turn.files?.length);
  const at = said.findLastIndex((turn) => turn.role !== "assistant");
  const current = said[at];
  if (current === undefined) return undefined;
  const history = said.slice(0, at);
  const systemPrompt = system.filter((text) => text.trim() !== "").join("\n\n");
  const message =
    history.length === 0 ? current.text : `[Earlier in this conversation]\n${history.map(spoken).join("\n")}\n\n[The message to answer]\n${spoken(current)}`;
  const { images = [], files = [] } = said.findLast((turn) => turn.role === "user") ?? {};
  return {
    message,
    ...(systemPrompt === "" ? {} : { systemPrompt }),
    ...(images.length === 0 ? {} : { images }),
    ...(files.length === 0 ? {} : { files }),
  };
}
