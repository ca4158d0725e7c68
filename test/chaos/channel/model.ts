import { startModelServer, STREAMS, type Behaviour, type ModelServer, type ReceivedRequest } from "../../fakes/model-server/index.ts";

/** What people ask for: an answer, one that is written slowly, or a tool that is run once and writes the word down. */
export type Verb = "say" | "slow" | "do";

/** Long enough to be shown while it is written. */
const PAUSES = 6;
const GAP_MS = 250;

/** How a slow answer begins behind its words, and how it ends. */
const SLOWLY = " and this is said slowly, with pauses";
const SLOW_END = `, ${PAUSES - 1}`;

/** Whether this is a slow answer that was cut off while it was shown. */
export const isUnfinished = (text: string): boolean => text.includes(SLOWLY) && !text.endsWith(SLOW_END);

const ASKED = /\b(say|slow|do) (w\d+-\d+)\b/g;

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? "").join("") : "";

/** Answers every word of a message: `heard`, `done` for a tool that ran, `unknown` where nobody can say. */
function play(ledger: string, { body }: ReceivedRequest): Behaviour {
  const { messages } = JSON.parse(body) as { readonly messages: readonly ChatMessage[] };
  const at = messages.findLastIndex(({ role }) => role === "user");
  const asked = [...textOf(messages[at]?.content).matchAll(ASKED)].map(([, verb, word]) => ({ verb: verb as Verb, word: word! }));
  const results = messages.slice(at).filter(({ role }) => role === "tool");
  const tools = asked.filter(({ verb }) => verb === "do");
  const completions = STREAMS["openai-completions"]!;
  if (tools.length > 0 && results.length === 0) {
    const toolCalls = tools.map(({ word }) => ({ id: `call_${word}`, name: "exec", arguments: [JSON.stringify({ command: `echo ${word} >> ${ledger}` })] }));
    return { kind: "stream", frames: completions({ toolCalls }) };
  }
  const parts = asked.map(({ verb, word }) => {
    if (verb !== "do") return `heard ${word}`;
    const result = results.find((one) => one.tool_call_id === `call_${word}`);
    return `${!result || /Interrupted|Not run/i.test(textOf(result.content)) ? "unknown" : "done"} ${word}`;
  });
  const text = parts.length === 0 ? "nothing was asked" : parts.join(", ");
  if (!asked.some(({ verb }) => verb === "slow")) return { kind: "stream", frames: completions({ text: [text] }) };
  const pieces = [text + SLOWLY, ...Array.from({ length: PAUSES }, (_, n) => `, ${n}`)];
  return { kind: "stream", frames: completions({ text: pieces }), gapMs: GAP_MS };
}

/** A provider over HTTP whose answers tell which words it heard. */
export const startHearingModel = (ledger: string): Promise<ModelServer> => startModelServer((request) => play(ledger, request));
