/** The ways to let a model answer, under the names that `--auth-choice` takes. */

interface Common {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
}

/** A key that is pasted, or the value of a flag. */
export interface KeyChoice extends Common {
  readonly kind: "key";
  readonly provider: string;
  /** Its flag is `--<flag>-api-key`. */
  readonly flag: string;
  /** Where the provider is, when that is not its usual address. */
  readonly baseUrl?: string;
  /** Instead of the provider's own default. */
  readonly model?: string;
  /** Given by its flag alone, another choice of the provider is meant. */
  readonly variant?: boolean;
}

/** A login in a browser, or one that another program of this user made. */
export interface LoginChoice extends Common {
  readonly kind: "login";
  readonly provider: string;
}

export interface OtherChoice extends Common {
  readonly kind: "token" | "local" | "custom" | "skip";
  readonly provider?: string;
}

export type AuthChoice = KeyChoice | LoginChoice | OtherChoice;

const key = (id: string, provider: string, flag: string, label: string, rest: Partial<KeyChoice> = {}): KeyChoice => ({
  kind: "key",
  id,
  provider,
  flag,
  label,
  ...rest,
});
const login = (id: string, provider: string, label: string, hint?: string): LoginChoice => ({ kind: "login", id, provider, label, ...(hint ? { hint } : {}) });

const ZAI_GLOBAL = "https://api.z.ai/api";
const ZAI_CHINA = "https://open.bigmodel.cn/api";

/** In the order in which a list shows them; of a provider's choices the first is its usual one. */
export const AUTH_CHOICES: readonly AuthChoice[] = [
  key("apiKey", "anthropic", "anthropic", "Anthropic API key"),
  { kind: "token", id: "token", provider: "anthropic", label: "Anthropic token", hint: "created with: claude setup-token" },
  { kind: "token", id: "setup-token", provider: "anthropic", label: "Anthropic setup-token" },
  login("oauth", "anthropic", "Anthropic login"),
  login("claude-cli", "anthropic", "Claude Code login"),
  key("openai-api-key", "openai", "openai", "OpenAI API key"),
  login("openai-codex", "openai-codex", "OpenAI Codex login"),
  login("codex-cli", "openai-codex", "Codex login"),
  key("gemini-api-key", "google", "gemini", "Google Gemini API key"),
  login("google-antigravity", "google-antigravity", "Google Antigravity login"),
  login("google-gemini-cli", "google-gemini-cli", "Gemini CLI login"),
  key("openrouter-api-key", "openrouter", "openrouter", "OpenRouter API key", { hint: "one key for many providers" }),
  key("xai-api-key", "xai", "xai", "xAI API key"),
  key("zai-api-key", "zai", "zai", "Z.AI API key"),
  key("zai-coding-global", "zai", "zai", "Z.AI coding plan", { baseUrl: `${ZAI_GLOBAL}/coding/paas/v4`, variant: true }),
  key("zai-coding-cn", "zai", "zai", "Z.AI coding plan (China)", { baseUrl: `${ZAI_CHINA}/coding/paas/v4`, variant: true }),
  key("zai-global", "zai", "zai", "Z.AI, pay as you go", { baseUrl: `${ZAI_GLOBAL}/paas/v4`, variant: true }),
  key("zai-cn", "zai", "zai", "Z.AI, pay as you go (China)", { baseUrl: `${ZAI_CHINA}/paas/v4`, variant: true }),
  key("moonshot-api-key", "moonshot", "moonshot", "Moonshot (Kimi) API key"),
  key("moonshot-api-key-cn", "moonshot", "moonshot", "Moonshot (Kimi) API key (China)", { baseUrl: "https://api.moonshot.cn/v1", variant: true }),
  key("kimi-code-api-key", "kimi-coding", "kimi-code", "Kimi Coding API key"),
  key("minimax-api", "minimax", "minimax", "MiniMax API key"),
  key("minimax-api-lightning", "minimax", "minimax", "MiniMax API key (fast model)", { model: "MiniMax-M2.1-lightning", variant: true }),
  key("minimax-api-key-cn", "minimax-cn", "minimax", "MiniMax API key (China)", { model: "MiniMax-M2.1", variant: true }),
  login("minimax-portal", "minimax-portal", "MiniMax login"),
  key("litellm-api-key", "litellm", "litellm", "LiteLLM API key"),
  key("ai-gateway-api-key", "vercel-ai-gateway", "ai-gateway", "Vercel AI Gateway API key"),
  key("cloudflare-ai-gateway-api-key", "cloudflare-ai-gateway", "cloudflare-ai-gateway", "Cloudflare AI Gateway API key"),
  key("opencode-zen", "opencode", "opencode-zen", "OpenCode Zen API key"),
  key("qianfan-api-key", "qianfan", "qianfan", "Qianfan API key"),
  key("xiaomi-api-key", "xiaomi", "xiaomi", "Xiaomi MiMo API key"),
  key("synthetic-api-key", "synthetic", "synthetic", "Synthetic API key"),
  key("venice-api-key", "venice", "venice", "Venice API key"),
  key("together-api-key", "together", "together", "Together API key"),
  key("huggingface-api-key", "huggingface", "huggingface", "Hugging Face token"),
  login("qwen-portal", "qwen-portal", "Qwen login"),
  login("github-copilot", "github-copilot", "GitHub Copilot login"),
  { kind: "local", id: "copilot-proxy", provider: "copilot-proxy", label: "Copilot proxy on this machine" },
  login("chutes", "chutes", "Chutes login"),
  { kind: "local", id: "vllm", provider: "vllm", label: "vLLM on this machine" },
  { kind: "local", id: "local", label: "Model on this machine", hint: "Ollama, LM Studio, vLLM, llama.cpp" },
  { kind: "custom", id: "custom-api-key", label: "Custom provider or server (URL)" },
  { kind: "skip", id: "skip", label: "Try without a key", hint: "uses the built-in offline model; add a key later" },
];

export const findChoice = (id: string): AuthChoice | undefined => AUTH_CHOICES.find((choice) => choice.id === id);

/** What a key flag means when no choice is named. */
export const choiceOfFlag = (flag: string): KeyChoice | undefined =>
  AUTH_CHOICES.find((choice): choice is KeyChoice => choice.kind === "key" && choice.flag === flag && choice.variant !== true);

/** Names of key flags, without `--` and `-api-key`. */
export const KEY_FLAGS: readonly string[] = [...new Set(AUTH_CHOICES.flatMap((choice) => (choice.kind === "key" ? [choice.flag] : [])))];
