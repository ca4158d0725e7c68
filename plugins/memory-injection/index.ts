import { join } from "node:path";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { openFacts } from "./facts.ts";

export default definePluginEntry({
  id: "memory-injection",
  name: "Memory injection",
  description: "Stores facts on request and adds them to prompts.",
  register(api) {
    const { mostFacts = 200, mostInPrompt = 5 } = (api.pluginConfig ?? {}) as { readonly mostFacts?: number; readonly mostInPrompt?: number };
    const facts = openFacts(join(api.runtime.state.resolveStateDir(), "memory-injection", "facts.json"), mostFacts);

    api.registerCommand({
      name: "remember",
      description: "Remember a fact: /remember the cat is called Ada",
      acceptsArgs: true,
      async handler({ args, sessionKey, senderId }) {
        if (!args) return { text: "Tell me what to remember: /remember <fact>" };
        const fact = await facts.add(args);
        // The model hears of it in its next turn, once, even if the gateway is restarted before that.
        if (sessionKey !== undefined) {
          const text = `The user${senderId === undefined ? "" : ` (${senderId})`} asked to remember: ${fact.text}`;
          await api.enqueueNextTurnInjection({ sessionKey, text, idempotencyKey: fact.id, placement: "append_context" });
        }
        return { text: "I will remember that." };
      },
    });
    api.registerCommand({
      name: "forget",
      description: "Forget all facts that contain a word: /forget cat",
      acceptsArgs: true,
      async handler({ args }) {
        const count = args ? await facts.remove(args) : 0;
        return { text: count === 0 ? "No matching facts." : `Forgot ${count} ${count === 1 ? "fact" : "facts"}.` };
      },
    });

    api.registerSessionExtension({ namespace: "facts", description: "What this session was reminded of." });

    api.on("before_prompt_build", async ({ prompt }) => {
      const found = await facts.about(prompt, mostInPrompt);
      if (found.length === 0) return undefined;
      return { prependContext: `Facts the user asked you to remember:\n${found.map(({ text }) => `- ${text}`).join("\n")}` };
    });
  },
});
