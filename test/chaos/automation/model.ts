/**
 * A model for work that starts by itself. Each `do <word>` of a message makes it call `exec` once, which writes the word down; `spawn <word>` makes it start two
 * sub-agents, which do the same. What it is asked is counted, so that a campaign can see what reached an agent, and how often.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

export interface CampaignModel extends Disposable {
  readonly url: string;
  /** How the work under a word ended, as the model saw it last; undefined while it has not. */
  ended(word: string): "done" | "unknown" | undefined;
  /** How often a session was notified about something, `<what> <word>`: as often as it stands in the messages of one conversation at most. */
  seen(text: string): number;
  /** Everything that was seen, and how often. */
  readonly notes: ReadonlyMap<string, number>;
}

/** The sub-agents that are started for a word. */
export const childrenOf = (word: string): readonly string[] => [`${word}-a`, `${word}-b`];

/** Lines that the campaign counts. */
const NOTE = /\b(?:Hook|Line|child) [a-z]\d[\w-]*/g;

/** Of calls in one turn. */
const MOST_RESULTS = 10;

const textOf = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? "").join("") : "";

interface Answer {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: object }[];
}

/** What a conversation that came as far as this is answered with. */
function answerTo(messages: readonly ChatMessage[], ledger: string, ended: Map<string, "done" | "unknown">): Answer {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const asked = textOf(messages[at]?.content);
  const results = messages.slice(at).filter(({ role }) => role === "tool");
  // What a sub-agent found is passed on; the words in it are its own.
  if (asked.includes("[System Message]")) return { text: "passed on" };
  const spawned = /\bspawn (\S+)/.exec(asked)?.[1];
  if (spawned !== undefined) {
    // A call that was not made is made again, as its result says.
    const isAccepted = (word: string): boolean =>
      results.some(({ tool_call_id: id = "", content }) => id.startsWith(`call_${word}`) && textOf(content).includes("accepted"));
    const missing = childrenOf(spawned).filter((word) => !isAccepted(word));
    const id = (word: string): string => `call_${word}-${results.length}`;
    const calls = missing.map((word) => ({ id: id(word), name: "sessions_spawn", args: { task: `do ${word}`, label: `child ${word}` } }));
    return calls.length === 0 || results.length > MOST_RESULTS ? { text: `started ${spawned}` } : { calls };
  }
  const words = [...new Set([...asked.matchAll(/\bdo ([a-z]\d[\w-]*)/g)].flatMap(([, word]) => word ?? []))];
  // What is reported stays in the conversation, where it can be counted.
  if (words.length === 0) return { text: /^System: /m.test(asked) ? "noted" : "HEARTBEAT_OK" };
  if (results.length === 0) return { calls: words.map((word) => ({ id: `call_${word}`, name: "exec", args: { command: `echo ${word} >> ${ledger}` } })) };
  const how = results.some(({ content }) => /Interrupted|Not run/.test(textOf(content))) ? "unknown" : "done";
  for (const word of words) ended.set(word, how);
  return { text: `${how} ${words.join(" ")}` };
}

export async function startCampaignModel(ledger: string): Promise<CampaignModel> {
  const ended = new Map<string, "done" | "unknown">();
  const notes = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: readonly ChatMessage[] };
      const asked = messages.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
      // The label of a sub-agent also stands in its own first message.
      const shown = asked.join("\n").replaceAll(/^\[Subagent Session\].*$/gm, "");
      for (const [note, found] of Map.groupBy(shown.matchAll(NOTE), ([text]) => text)) notes.set(note, Math.max(notes.get(note) ?? 0, found.length));
      const { text, calls } = answerTo(messages, ledger, ended);
      const toolCalls = calls?.map(({ id, name, args }, index) => ({ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }));
      const delta = toolCalls ? { role: "assistant", tool_calls: toolCalls } : { role: "assistant", content: text };
      const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m1" };
      const end = { index: 0, delta: {}, finish_reason: toolCalls ? "tool_calls" : "stop" };
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`);
      response.write(`data: ${JSON.stringify({ ...base, choices: [end], usage })}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    ended: (word) => ended.get(word),
    seen: (text) => notes.get(text) ?? 0,
    notes,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
