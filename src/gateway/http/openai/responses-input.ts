import { composeConversation, parseSettings, type Conversation, type RunSettings, type Turn } from "./conversation.ts";
import { isRecord } from "../../../base/records.ts";
import { optional } from "./fields.ts";
import { fileAt, type FileSource } from "./file-sources.ts";
import { imageAt, type ImageSource } from "./images.ts";
import { invalid } from "./refusal.ts";

export interface ResponsesInput {
  readonly model: string;
  readonly stream: boolean;
  readonly user: string | undefined;
  readonly instructions: string | undefined;
  readonly conversation: Conversation;
  readonly settings: RunSettings;
}

type Fields = Readonly<Record<string, unknown>>;

/** What the body may hold. Those without effect are taken so that ordinary clients work. */
const BODY_KEYS: readonly string[] =
  "model input instructions tools tool_choice stream max_output_tokens user max_tool_calls temperature top_p metadata store previous_response_id reasoning truncation".split(
    " ",
  );
const PART_KEYS: Readonly<Record<string, readonly string[]>> = {
  input_text: ["type", "text"],
  output_text: ["type", "text", "annotations", "logprobs"],
  refusal: ["type", "refusal"],
  input_image: ["type", "image_url", "detail", "file_id", "source"],
  input_file: ["type", "file_data", "file_url", "file_id", "filename", "detail", "source"],
};
const ITEM_KEYS: Readonly<Record<string, readonly string[]>> = {
  message: ["type", "role", "content", "id", "status", "phase"],
  function_call: ["type", "id", "call_id", "name", "arguments", "status"],
  function_call_output: ["type", "id", "call_id", "output", "status"],
  reasoning: ["type", "id", "content", "summary", "encrypted_content", "status"],
  item_reference: ["type", "id"],
};

function checkKeys(value: Fields, allowed: readonly string[] | undefined, at: string): void {
  const unknown = Object.keys(value).find((key) => !allowed?.includes(key));
  if (unknown !== undefined) throw invalid(`${at}: unexpected property '${unknown.slice(0, 80)}'`, at === "at root" ? unknown : at);
}

function stringField(value: Fields, name: string, at: string): string {
  const found = value[name];
  if (typeof found !== "string") throw invalid(`${at}.${name} must be a string`, at);
  return found;
}

function partText(part: unknown, at: string): string {
  if (!isRecord(part)) throw invalid(`${at} must be an object with a type`, at);
  const type = part["type"];
  if (typeof type !== "string" || !Object.hasOwn(PART_KEYS, type)) throw invalid(`${at}.type must be input_text, output_text, input_image or input_file`, at);
  checkKeys(part, PART_KEYS[type], at);
  return stringField(part, type === "refusal" ? "refusal" : "text", at);
}

/** An image by its address, or by a `source` that names an address or holds the image. */
function imageOf(part: unknown, at: string): ImageSource | undefined {
  if (!isRecord(part) || part["type"] !== "input_image") return undefined;
  checkKeys(part, PART_KEYS["input_image"], at);
  const { image_url: address, source } = part;
  if (typeof address === "string") return imageAt(address, at);
  if (isRecord(source) && source["type"] === "url") return imageAt(stringField(source, "url", `${at}.source`), at);
  if (isRecord(source) && source["type"] === "base64") {
    return { at, data: stringField(source, "data", `${at}.source`), mimeType: optional(source, "media_type", "string") };
  }
  throw invalid(`${at} must have an image_url or a source`, at);
}

function fileOf(part: unknown, at: string): FileSource | undefined {
  if (!isRecord(part) || part["type"] !== "input_file") return undefined;
  checkKeys(part, PART_KEYS["input_file"], at);
  return fileAt(part, at);
}

interface Content {
  readonly text: string;
  readonly images: readonly ImageSource[];
  readonly files: readonly FileSource[];
}

function contentOf(content: unknown, at: string): Content {
  if (typeof content === "string") return { text: content, images: [], files: [] };
  if (!Array.isArray(content)) throw invalid(`${at} must be a string or a list of parts`, at);
  const images: ImageSource[] = [];
  const files: FileSource[] = [];
  const texts = content.flatMap((part, index) => {
    const image = imageOf(part, `${at}[${index}]`);
    const file = fileOf(part, `${at}[${index}]`);
    if (image) images.push(image);
    if (file) files.push(file);
    return image || file ? [] : [partText(part, `${at}[${index}]`)];
  });
  return { text: texts.join("\n"), images, files };
}

/** Sorts one item of `input` into the conversation or the system prompt. */
function takeItem(item: unknown, at: string, turns: Turn[], system: string[]): void {
  if (!isRecord(item)) throw invalid(`${at} must be an object`, at);
  const type = item["type"] ?? "message";
  if (typeof type !== "string" || !Object.hasOwn(ITEM_KEYS, type)) throw invalid(`${at}.type must be one of ${Object.keys(ITEM_KEYS).join(", ")}`, at);
  checkKeys(item, ITEM_KEYS[type], at);
  switch (type) {
    case "message": {
      const { text, images, files } = contentOf(item["content"], `${at}.content`);
      const role = item["role"];
      if (images.length + files.length > 0 && role !== "user") throw invalid(`${at}: only messages of a user have images and files`, at);
      if (role === "system" || role === "developer") system.push(text);
      else if (role === "user" || role === "assistant") turns.push({ role, text, images, files });
      else throw invalid(`${at}.role must be system, developer, user or assistant`, at);
      return;
    }
    case "function_call":
      turns.push({ role: "assistant", text: `[called ${stringField(item, "name", at)} with ${stringField(item, "arguments", at)}]` });
      return;
    case "function_call_output":
      turns.push({ role: "tool", text: contentOf(item["output"], `${at}.output`).text });
      return;
    // Reasoning and references to items that the caller does not send have no text to pass on.
  }
}

/** Values of the settings are checked even where they have no effect. */
function checkSettings(body: Fields): void {
  const { metadata } = body;
  if (metadata !== undefined && metadata !== null && !isRecord(metadata)) throw invalid("`metadata` must be an object", "metadata");
}

/** Reads the body of `POST /v1/responses`. It is closed: a key that is not known is refused. */
export function parseResponsesInput(body: Fields): ResponsesInput {
  checkKeys(body, BODY_KEYS, "at root");
  const model = optional(body, "model", "string");
  if (model === undefined || model.trim() === "") throw invalid("must have required property 'model'", "model");
  const stream = optional(body, "stream", "boolean") ?? false;
  const user = optional(body, "user", "string");
  const instructions = optional(body, "instructions", "string");
  checkSettings(body);
  const turns: Turn[] = [];
  const system: string[] = instructions === undefined ? [] : [instructions];
  const { input } = body;
  if (typeof input === "string") turns.push({ role: "user", text: input });
  else if (Array.isArray(input)) for (const [index, item] of input.entries()) takeItem(item, `input[${index}]`, turns, system);
  else throw invalid("`input` must be a string or a list of items", "input");
  const settings = parseSettings(body, system, "max_output_tokens");
  const conversation = composeConversation(turns, system);
  if (!conversation) throw invalid("Missing user message in `input`.", "input");
  return { model, stream, user, instructions, conversation, settings };
}
