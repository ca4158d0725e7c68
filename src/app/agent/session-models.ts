import { AppError } from "../../base/errors.ts";
import { defaultAgentId } from "../../config/index.ts";
import { agentOfKey } from "../../protocol/index.ts";
import type { ImageToolDeps, SessionModels } from "../../tools/index.ts";
import type { AppAgentDeps } from "./index.ts";

type Deps = Pick<AppAgentDeps, "models" | "store" | "config" | "clock" | "ids">;

/** What the session tools ask about models. */
export function sessionModels(deps: Deps): SessionModels {
  return {
    async describe({ agentId, override }) {
      const models = await deps.models.models();
      const { entry, reason, thinking, contextWindow } = await models.select({ agentId, ...(override ? { session: override } : {}) });
      return { ref: `${entry.provider}/${entry.id}`, why: reason.text, thinking, contextWindow: contextWindow.tokens };
    },
    async setModel(sessionKey, ref) {
      const agentId = agentOfKey(sessionKey, { defaultAgentId: defaultAgentId(deps.config.current) });
      const models = await deps.models.models();
      const chosen = ref === "default" ? undefined : (await models.select({ agentId, override: ref })).entry;
      if (!(await deps.store.read("sessions.get", { key: sessionKey }))) throw new AppError("INVALID_INPUT", `there is no session ${sessionKey}`);
      const patch = { providerOverride: chosen?.provider ?? null, modelOverride: chosen?.id ?? null };
      await deps.store.write("sessions.patch", { key: sessionKey, patch });
      const { entry } = chosen ? { entry: chosen } : await models.select({ agentId });
      return `${entry.provider}/${entry.id}`;
    },
  };
}

/** Has a model that can see say what is in pictures. */
export function describeImages(deps: Deps): ImageToolDeps["describe"] {
  return async ({ images, prompt, model, maxTokens, signal, context }) => {
    const { agentId, sessionKey, sessionId, runId } = context;
    const models = await deps.models.models();
    const seeing = await models.imageModels({ agentId, model });
    if (seeing.length === 0) throw new AppError("UNAVAILABLE", "no model that takes images is configured: set agents.defaults.imageModel");
    const messages = [{ role: "user", content: [{ type: "text", text: prompt }, ...images], timestamp: deps.clock.now() }] as const;
    const call = models.call(agentId, { runId, agentId, sessionKey, sessionId, models: seeing, messages, thinking: "off", maxTokens, signal });
    for await (const event of call) {
      if (event.type !== "done") continue;
      const { result } = event;
      if (!result.ok) throw new AppError("UNAVAILABLE", result.text);
      const text = result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
      return { text, provider: result.message.provider, model: result.message.model };
    }
    throw new AppError("INTERNAL", "the call of the image model ended without saying how");
  };
}
