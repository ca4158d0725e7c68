/** How the model describes itself. It never claims to understand. */

export const INTRODUCTION =
  "I am the built-in offline model of OpenClaw: a set of rules, no language model. I need no key and no network, and I understand plain requests only.";

/** Supported requests, with the tools each needs. */
export const ABILITIES: readonly { readonly text: string; readonly tools: readonly string[] }[] = [
  { text: "run a command: `run ls -la`", tools: ["exec"] },
  { text: "read a file: `read notes.md`", tools: ["read"] },
  { text: 'write a file: `write "buy milk" to todo.md`', tools: ["write"] },
  { text: 'change a file: `replace "milk" with "tea" in todo.md`', tools: ["edit"] },
  { text: "remember something: `remember that the door code is 4711`", tools: ["write"] },
  { text: "recall it: `what do you remember about the door?`", tools: ["memory_search"] },
  { text: "remind you: `remind me in 20 minutes to check the oven`", tools: ["cron"] },
  { text: "answer questions about OpenClaw from its documentation: `how do I set a budget?`", tools: [] },
  { text: "sum up a long conversation, so that it can go on", tools: [] },
];

export const NEEDS_REAL_MODEL =
  "A real model is needed for everything that takes understanding: free conversation, writing and translating, reasoning, code, pictures, deciding by itself which tools to use.";

export const ADDING_A_KEY = [
  "To add a real model, do one of these:",
  "- store a key: `openclaw models auth add`",
  "- or set a variable before the gateway starts: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY`, `OPENROUTER_API_KEY`, `GROQ_API_KEY`, `MISTRAL_API_KEY`, `XAI_API_KEY`, …",
  "- or run one on this machine: Ollama, LM Studio, vLLM and llama.cpp are found by themselves on localhost.",
  "Then choose it with `openclaw models set provider/model`; `openclaw models status` shows what is used and why. More: docs/models/keys.md",
].join("\n");

export function abilitiesText(has: (tool: string) => boolean): string {
  const line = ({ text, tools }: (typeof ABILITIES)[number]): string => {
    const absent = tools.filter((tool) => !has(tool));
    return `- ${text}${absent.length === 0 ? "" : ` (not here: the tool ${absent.map((tool) => `\`${tool}\``).join(", ")} is not available)`}`;
  };
  return ["What I can do:", ...ABILITIES.map(line)].join("\n");
}
