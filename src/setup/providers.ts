/** What people call providers. Those that are not here go by their id. */
const LABELS: Readonly<Record<string, string>> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  "openai-codex": "OpenAI Codex",
  google: "Google Gemini",
  "google-gemini-cli": "Gemini CLI",
  "google-antigravity": "Google Antigravity",
  xai: "xAI",
  mistral: "Mistral",
  openrouter: "OpenRouter",
  opencode: "OpenCode Zen",
  "vercel-ai-gateway": "Vercel AI Gateway",
  "cloudflare-ai-gateway": "Cloudflare AI Gateway",
  litellm: "LiteLLM",
  zai: "Z.AI (GLM)",
  minimax: "MiniMax",
  "minimax-cn": "MiniMax (China)",
  "minimax-portal": "MiniMax portal",
  moonshot: "Moonshot (Kimi)",
  "kimi-coding": "Kimi Coding",
  groq: "Groq",
  cerebras: "Cerebras",
  synthetic: "Synthetic",
  venice: "Venice",
  together: "Together",
  huggingface: "Hugging Face",
  nvidia: "NVIDIA",
  qianfan: "Qianfan",
  xiaomi: "Xiaomi MiMo",
  "qwen-portal": "Qwen portal",
  chutes: "Chutes",
  "github-copilot": "GitHub Copilot",
  "copilot-proxy": "Copilot proxy",
  ollama: "Ollama",
  vllm: "vLLM",
  lmstudio: "LM Studio",
  llamacpp: "llama.cpp",
};

export const providerLabel = (id: string): string => LABELS[id] ?? id;

/** Where a key is to be had. */
const KEY_PAGES: Readonly<Record<string, string>> = {
  anthropic: "https://console.anthropic.com/settings/keys",
  openai: "https://platform.openai.com/api-keys",
  google: "https://aistudio.google.com/apikey",
  openrouter: "https://openrouter.ai/settings/keys",
  xai: "https://console.x.ai",
  mistral: "https://console.mistral.ai/api-keys",
  groq: "https://console.groq.com/keys",
  zai: "https://z.ai/manage-apikey/apikey-list",
  moonshot: "https://platform.moonshot.ai/console/api-keys",
};

/** Help for a user who is asked for a key. */
export const keyHelp = (id: string, note: string | undefined): string | undefined =>
  [KEY_PAGES[id] === undefined ? undefined : `Get a key at ${KEY_PAGES[id]}`, note].filter(Boolean).join("; ") || undefined;
