import { composeConversation, parseSettings, type Conversation, type RunSettings, type Turn } from "./conversation.ts";
import { isRecord } from "../../../base/records.ts";
import { optional } from "./fields.ts";
import { imageAt, type ImageSource } from "./images.ts";
import { invalid, unsupported } from "./refusal.ts";

export interface ChatInput {
  readonly model: string;
  readonly stream: boolean;
  readonly user: string | undefined;
  readonly conversation: Conversation;
  readonly settings: RunSettings;
  /** A streamed answer reports its token usage at the end. */
  readonly includeUsage: boolean;
}

const TEXT_PARTS: readonly unknown[] = ["text", "input_text", "output_text"];

function partText(part: unknown, at: string): string {
  if (!isRecord(part)) throw invalid(`${at} must be an object with a type`, at);
  if (TEXT_PARTS.includes(part["type"])) {
    if (typeof part["text"] !== "string") throw invalid(`${at}.text must be a string`, at);
    return part["text"];
  }
  if (part["type"] === "refusal" && typeof part["refusal"] === "string") return part["refusal"];
  throw unsupported(`content parts of type ${JSON.stringify(part["type"] ?? null)}`, at);
}

/** The address of a part that is an image. */
function imageOf(part: unknown, at: string): ImageSource | undefined {
  if (!isRecord(part) || part["type"] !== "image_url") return undefined;
  const given = part["image_url"];
  const url = isRecord(given) ? given["url"] : given;
  if (typeof url !== "string") throw invalid(`${at}.image_url.url must be a string`, at);
  return imageAt(url, at);
}

interface Content {
  readonly text: string;
  readonly images: readonly ImageSource[];
}

function contentOf(content: unknown, at: string, withImages: boolean): Content {
  if (content === undefined || content === null) return { text: "", images: [] };
  if (typeof content === "string") return { text: content, images: [] };
  if (!Array.isArray(content)) throw invalid(`${at} must be a string or a list of parts`, at);
  const images: ImageSource[] = [];
  const texts = content.flatMap((part, index) => {
    const image = withImages ? imageOf(part, `${at}[${index}]`) : undefined;
    if (image) images.push(image);
    return image ? [] : [partText(part, `${at}[${index}]`)];
  });
  return { text: texts.join("\n"), images };
}

/** Calls that an assistant message made, as text. */
function callsText(calls: unknown): string {
  if (!Array.isArray(calls)) return "";
  return calls
    .map((call) => (isRecord(call) && isRecord(call["function"]) ? call["function"] : {}))
    .map(({ name, arguments: given }) => (typeof name === "string" ? `[called ${name} with ${typeof given === "string" ? given : "{}"}]` : ""))
    .join("\n");
}

function parseMessages(messages: unknown): { readonly turns: readonly Turn[]; readonly system: string[] } {
  if (!Array.isArray(messages)) throw invalid("`messages` must be a list", "messages");
  const turns: Turn[] = [];
  const system: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!isRecord(message)) throw invalid(`${at} must be an object`, at);
    const { text, images } = contentOf(message["content"], `${at}.content`, message["role"] === "user");
    switch (message["role"]) {
      case "system":
      case "developer":
        system.push(text);
        break;
      case "user":
        turns.push({ role: "user", text, images });
        break;
      case "assistant":
        turns.push({ role: "assistant", text: [text, callsText(message["tool_calls"])].filter(Boolean).join("\n") });
        break;
      case "tool":
      case "function":
        turns.push({ role: "tool", text });
        break;
      default:
        throw invalid(`${at}.role must be system, developer, user, assistant or tool`, `${at}.role`);
    }
  }
  return { turns, system };
}

/** What would change the answer and cannot be honoured. */
function checkSupported(body: Readonly<Record<string, unknown>>): void {
  const { functions, response_format: format, n, modalities } = body;
  if (Array.isArray(functions) && functions.length > 0) throw unsupported("`functions` (use `tools`)", "functions");
  if (isRecord(format) && format["type"] !== "text") throw unsupported("a response format other than text", "response_format");
  if (n !== undefined && n !== null && n !== 1) throw unsupported("more than one choice (n)", "n");
  if (Array.isArray(modalities) && modalities.includes("audio")) throw unsupported("audio output", "modalities");
}

/** Reads the body of `POST /v1/chat/completions`. Settings of sampling other than the temperature are passed over: the agent's own hold. */
export function parseChatInput(body: Readonly<Record<string, unknown>>): ChatInput {
  const model = optional(body, "model", "string") ?? "openclaw";
  const stream = optional(body, "stream", "boolean") ?? false;
  const user = optional(body, "user", "string");
  const { turns, system } = parseMessages(body["messages"]);
  checkSupported(body);
  const settings = parseSettings(body, system, "max_completion_tokens", "max_tokens");
  const options = body["stream_options"];
  const includeUsage = isRecord(options) && options["include_usage"] === true;
  const conversation = composeConversation(turns, system);
  if (!conversation) throw invalid("Missing user message in `messages`.", "messages");
  return { model, stream, user, conversation, settings, includeUsage };
}
