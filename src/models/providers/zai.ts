import { OPENAI_COMPLETIONS, type ProviderFacts } from "./provider.ts";

/**
 * GLM. The URL is that of the coding plan; the general one is https://api.z.ai/api/paas/v4, those in China start with https://open.bigmodel.cn/api.
 */
export const ZAI: ProviderFacts = {
  id: "zai",
  aliases: ["z.ai", "z-ai"],
  env: ["ZAI_API_KEY", "Z_AI_API_KEY"],
  baseUrl: "https://api.z.ai/api/coding/paas/v4",
  api: OPENAI_COMPLETIONS,
  presence: "catalog",
  models: [
    { id: "glm-5", name: "GLM-5", reasoning: true, contextWindow: 204_800, maxTokens: 131_072 },
    { id: "glm-4.7-flash", name: "GLM-4.7-Flash", reasoning: true, contextWindow: 200_000, maxTokens: 131_072 },
    { id: "glm-4.7-flashx", name: "GLM-4.7-FlashX", reasoning: true, contextWindow: 200_000, maxTokens: 131_072 },
    { id: "glm-4.6v", name: "GLM-4.6V", reasoning: true, input: ["text", "image"], contextWindow: 128_000, maxTokens: 32_768 },
  ],
  defaultModel: "glm-5",
  picksDefault: true,
};
