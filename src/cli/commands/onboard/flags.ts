import type { SetupAnswers } from "../../../setup/index.ts";
import { AppError } from "../../../base/errors.ts";
import type { Values } from "../../command.ts";
import { JSON_OPTION } from "../../command.ts";
import { parsePort } from "../gateway/port.ts";

const flag = (value: string, help: string) => ({ type: "string", value, help }) as const;
const yes = (help: string) => ({ type: "boolean", help }) as const;
const key = (of: string) => flag("key", `key of ${of}`);

/** Flags of `onboard`. `setup` takes some of them. */
export const ONBOARD_OPTIONS = {
  "non-interactive": yes("ask nothing: flags decide (needs --accept-risk)"),
  "accept-risk": yes("I know that agents can run commands and send messages"),
  mode: flag("local|remote", "run a gateway here, or use one elsewhere (default local)"),
  flow: flag("quickstart|advanced", "how much is asked; manual means advanced"),
  reset: yes("put configuration, credentials and conversations away first"),
  "reset-scope": flag("scope", "what --reset puts away: config, config+creds+sessions or full"),
  workspace: flag("dir", "folder of the agent's files"),
  "auth-choice": flag("id", "which model answers: apiKey, openai-api-key, vllm, custom-api-key, skip …"),
  "anthropic-api-key": key("Anthropic"),
  "openai-api-key": key("OpenAI"),
  "openrouter-api-key": key("OpenRouter"),
  "litellm-api-key": key("LiteLLM"),
  "ai-gateway-api-key": key("Vercel AI Gateway"),
  "cloudflare-ai-gateway-api-key": key("Cloudflare AI Gateway"),
  "cloudflare-ai-gateway-account-id": flag("id", "account at Cloudflare"),
  "cloudflare-ai-gateway-gateway-id": flag("id", "gateway at Cloudflare"),
  "moonshot-api-key": key("Moonshot"),
  "kimi-code-api-key": key("Kimi Coding"),
  "gemini-api-key": key("Google Gemini"),
  "zai-api-key": key("Z.AI"),
  "xai-api-key": key("xAI"),
  "qianfan-api-key": key("Qianfan"),
  "xiaomi-api-key": key("Xiaomi MiMo"),
  "minimax-api-key": key("MiniMax"),
  "synthetic-api-key": key("Synthetic"),
  "venice-api-key": key("Venice"),
  "together-api-key": key("Together"),
  "huggingface-api-key": key("Hugging Face"),
  "opencode-zen-api-key": key("OpenCode Zen"),
  token: flag("text", "a token made elsewhere"),
  "token-provider": flag("id", "whose token it is (default anthropic)"),
  "token-profile-id": flag("id", "its name (default <provider>:manual)"),
  "token-expires-in": flag("duration", "how long it lives: 365d, 12h"),
  "custom-base-url": flag("url", "address of another provider"),
  "custom-model-id": flag("id", "a model there"),
  "custom-api-key": flag("key", "its key; also from CUSTOM_API_KEY"),
  "custom-provider-id": flag("id", "what it is called (default custom-<host>-<port>)"),
  "custom-compatibility": flag("openai|anthropic", "whose protocol it speaks (default openai)"),
  "gateway-port": flag("n", "port (default 18789)"),
  "gateway-bind": flag("mode", "loopback, lan, tailnet, auto or custom"),
  "gateway-auth": flag("token|password", "how clients prove themselves"),
  "gateway-token": flag("text", "the token (default: one is made)"),
  "gateway-password": flag("text", "the password"),
  tailscale: flag("off|serve|funnel", "show it through Tailscale"),
  "tailscale-reset-on-exit": yes("undo that when the gateway ends"),
  "install-daemon": yes("start it with the machine, as a service"),
  "no-install-daemon": yes("do not"),
  "skip-daemon": yes("the same"),
  "daemon-runtime": flag("node", "what the service runs on: always node"),
  owner: flag("channel:id", "who may do everything from a chat, such as telegram:123456789"),
  "skip-channels": yes("set no channel up"),
  "skip-skills": yes("do not look at skills"),
  "skip-health": yes("ask neither the provider nor the gateway whether it works"),
  "skip-ui": yes("do not say how to open the page"),
  "node-manager": flag("npm|pnpm|bun", "with what Node programs of skills are installed"),
  "remote-url": flag("ws", "address of the gateway elsewhere"),
  "remote-token": flag("text", "its token"),
  json: JSON_OPTION,
} as const;

export type OnboardValues = Values<typeof ONBOARD_OPTIONS>;

/** The value of a flag that takes one of a few words. */
function oneOf<T extends string>(name: string, value: string | undefined, words: readonly T[]): T | undefined {
  const word = words.find((known) => known === value);
  if (value === undefined || word !== undefined) return word;
  throw new AppError("INVALID_INPUT", `--${name} takes ${words.join(", ")}, not ${JSON.stringify(value)}`);
}

function daemonOf(values: OnboardValues): boolean | undefined {
  const no = values["no-install-daemon"] || values["skip-daemon"];
  if (no && values["install-daemon"]) throw new AppError("INVALID_INPUT", "--install-daemon and --no-install-daemon were both given");
  const runtime = values["daemon-runtime"];
  if (runtime !== undefined && runtime !== "node")
    throw new AppError("INVALID_INPUT", `--daemon-runtime takes node, not ${JSON.stringify(runtime)}: the gateway runs on Node only`);
  return values["install-daemon"] ? true : no ? false : undefined;
}

/** What the flags say. Throws for values that none of them takes. */
export async function answersFrom(values: OnboardValues): Promise<SetupAnswers> {
  const { KEY_FLAGS, BINDS, TAILSCALE_MODES, NODE_MANAGERS, RESET_SCOPES } = await import("../../../setup/index.ts");
  const flags: Readonly<Record<string, unknown>> = values;
  const keys = KEY_FLAGS.flatMap((name) => {
    const value = flags[`${name}-api-key`];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  const empty = keys.find(([, value]) => value.trim() === "");
  if (empty) throw new AppError("INVALID_INPUT", `--${empty[0]}-api-key is empty`);
  const flow = oneOf("flow", values.flow, ["quickstart", "advanced", "manual"]);
  const scope = oneOf("reset-scope", values["reset-scope"], RESET_SCOPES);
  return {
    acceptRisk: values["accept-risk"],
    mode: oneOf("mode", values.mode, ["local", "remote"]),
    flow: flow === "manual" ? "advanced" : flow,
    reset: values.reset ? (scope ?? "config+creds+sessions") : undefined,
    workspace: values.workspace,
    authChoice: values["auth-choice"],
    keys: Object.fromEntries(keys),
    cloudflare: { accountId: values["cloudflare-ai-gateway-account-id"], gatewayId: values["cloudflare-ai-gateway-gateway-id"] },
    token: { value: values.token, provider: values["token-provider"], profileId: values["token-profile-id"], expiresIn: values["token-expires-in"] },
    custom: {
      baseUrl: values["custom-base-url"],
      modelId: values["custom-model-id"],
      apiKey: values["custom-api-key"],
      providerId: values["custom-provider-id"],
      compatibility: oneOf("custom-compatibility", values["custom-compatibility"], ["openai", "anthropic"]),
    },
    gateway: {
      port: parsePort(values["gateway-port"], 1, "gateway-port"),
      bind: oneOf("gateway-bind", values["gateway-bind"], BINDS),
      auth: oneOf("gateway-auth", values["gateway-auth"], ["token", "password"]),
      token: values["gateway-token"],
      password: values["gateway-password"],
      tailscale: oneOf("tailscale", values.tailscale, TAILSCALE_MODES),
      tailscaleResetOnExit: values["tailscale-reset-on-exit"],
    },
    owner: values.owner,
    installDaemon: daemonOf(values),
    skip: {
      channels: values["skip-channels"] ?? false,
      skills: values["skip-skills"] ?? false,
      health: values["skip-health"] ?? false,
      ui: values["skip-ui"] ?? false,
    },
    nodeManager: oneOf("node-manager", values["node-manager"], NODE_MANAGERS),
    remote: { url: values["remote-url"], token: values["remote-token"] },
  };
}
