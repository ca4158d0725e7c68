import type { Redactor } from "../../base/redaction.ts";
import { maskValue } from "../../base/secret-search.ts";
import type { CallEvent } from "../../models/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";

type Masking = Pick<Redactor, "secrets" | "stream"> | undefined;

/** A message without registered secrets, the same one when it has none. Pictures and what providers sign stay as they are. */
export function maskMessage<M extends ModelMessage>(redactor: Masking, message: M): M {
  if (!redactor) return message;
  const mask = redactor.secrets;
  if (typeof message.content === "string") {
    const content = mask(message.content);
    return content === message.content ? message : { ...message, content };
  }
  const content: Part[] = [];
  let isSame = true;
  for (const part of message.content) {
    const masked = maskPart(part, mask);
    isSame &&= masked === part;
    content.push(masked);
  }
  const details = "details" in message ? maskValue(message.details, mask) : undefined;
  const sameDetails = !("details" in message) || details === message.details;
  return isSame && sameDetails ? message : { ...message, content, ...(sameDetails ? {} : { details }) };
}

type Part = Exclude<ModelMessage["content"], string>[number];

function maskPart(part: Part, mask: (text: string) => string): Part {
  if (part.type === "text") {
    const text = mask(part.text);
    return text === part.text ? part : { ...part, text };
  }
  if (part.type === "toolCall") {
    const [name, args] = [mask(part.name), maskValue(part.arguments, mask)];
    return name === part.name && args === part.arguments ? part : { ...part, name, arguments: args };
  }
  if (part.type !== "thinking") return part;
  const thinking = mask(part.thinking);
  if (thinking === part.thinking) return part;
  // The signature is for the thought as it was; with another one it would be refused.
  const { thinkingSignature: _, ...rest } = part;
  return { ...rest, thinking };
}

/** An answer as it comes, without registered secrets: one that is spread over pieces is found as well. */
export async function* maskedAnswer(redactor: Masking, events: AsyncIterable<CallEvent>): AsyncGenerator<CallEvent> {
  if (!redactor) {
    yield* events;
    return;
  }
  let streams = { text: redactor.stream(), thinking: redactor.stream() };
  const index = { text: 0, thinking: 0 };
  let kind: "text" | "thinking" | undefined;
  const rest = function* (): Generator<CallEvent> {
    for (const type of ["thinking", "text"] as const) {
      const delta = streams[type].end();
      if (delta !== "") yield { type, index: index[type], delta };
    }
  };
  for await (const event of events) {
    if (event.type === "text" || event.type === "thinking") {
      // A thought ends where the answer begins: what was held back of it belongs before this.
      if (kind !== undefined && kind !== event.type) {
        const held = streams[kind].end();
        streams[kind] = redactor.stream();
        if (held !== "") yield { type: kind, index: index[kind], delta: held };
      }
      kind = event.type;
      index[event.type] = event.index;
      const delta = streams[event.type].push(event.delta);
      if (delta !== "") yield { ...event, delta };
    } else if (event.type === "retract") {
      const delta = streams.text.end();
      if (delta !== "") yield { type: "text", index: event.index, delta };
      streams = { ...streams, text: redactor.stream() };
      yield event;
    } else if (event.type === "discard") {
      streams = { text: redactor.stream(), thinking: redactor.stream() };
      yield event;
    } else if (event.type === "done") {
      yield* rest();
      yield { ...event, result: { ...event.result, message: maskMessage(redactor, event.result.message) } };
    } else yield event;
  }
}
