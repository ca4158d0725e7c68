/** What Slack checks of blocks: their number, and the lengths and values of what is in them. */
import { SlackRefusal } from "./refusal.ts";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function refuse(why: string): never {
  throw new SlackRefusal("invalid_blocks", { errors: [why], response_metadata: { messages: [`[ERROR] ${why}`] } });
}

function checkText(value: unknown, most: number, where: string): void {
  const text = isFields(value) ? value["text"] : undefined;
  if (typeof text !== "string" || text === "") refuse(`${where} must have a text`);
  if (text.length > most) refuse(`${where} must be less than ${most + 1} characters`);
}

function checkValue(value: unknown, most: number, where: string): void {
  if (value !== undefined && (typeof value !== "string" || value.length > most)) refuse(`${where} must be a text of at most ${most} characters`);
}

function checkElement(element: unknown, ids: Set<string>): void {
  if (!isFields(element)) return refuse("an element must be an object");
  const id = element["action_id"];
  if (id !== undefined && (typeof id !== "string" || id.length > 255 || ids.has(id))) refuse("action_id must be unique and short");
  if (typeof id === "string") ids.add(id);
  if (element["type"] === "button") {
    checkText(element["text"], 75, "a button's text");
    checkValue(element["value"], 2000, "a button's value");
    return;
  }
  if (element["type"] !== "static_select") return;
  const options = element["options"];
  if (!Array.isArray(options) || options.length === 0 || options.length > 100) return refuse("a select has 1 to 100 options");
  for (const option of options) {
    if (!isFields(option)) return refuse("an option must be an object");
    checkText(option["text"], 75, "an option's text");
    checkValue(option["value"], 150, "an option's value");
  }
}

export function checkBlocks(blocks: unknown): void {
  if (blocks === undefined) return;
  if (!Array.isArray(blocks)) throw new SlackRefusal("invalid_blocks_format");
  if (blocks.length > 50) return refuse("no more than 50 items allowed");
  const ids = new Set<string>();
  for (const block of blocks as readonly unknown[]) {
    if (!isFields(block) || typeof block["type"] !== "string") return refuse("a block must have a type");
    if (block["type"] === "section") checkText(block["text"], 3000, "a section's text");
    if (block["type"] !== "actions") continue;
    const elements = block["elements"];
    if (!Array.isArray(elements) || elements.length === 0 || elements.length > 25) return refuse("actions have 1 to 25 elements");
    for (const element of elements as readonly unknown[]) checkElement(element, ids);
  }
}
