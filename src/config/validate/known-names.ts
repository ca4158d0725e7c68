import { CHANNEL_IDS, KNOWN_CHANNELS } from "../known-channels.ts";
import { valueAt } from "../value.ts";

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Groups of tools; plugins bring none. */
const GROUPS = words(
  "group:runtime group:fs group:sessions group:memory group:web group:ui group:automation group:messaging group:nodes group:openclaw group:plugins",
);

/** Tools of this program, with their other spellings: no plugin's tool may be called so. `src/tools` declares them; a test holds both together. */
export const BUILTIN_TOOL_NAMES: ReadonlySet<string> = new Set(
  words(`
  read edit write apply_patch apply-patch grep find ls exec bash process browser canvas nodes cron message tts gateway agents_list
  sessions_list sessions_history sessions_send sessions_spawn subagents session_status skills_search web_search web_fetch image image_generate`),
);

/** Tools of the documented system in all its versions, with those of its bundled plugins. */
const TOOLS = words(`
  sessions_yield x_search
  video_generate music_generate pdf code_execution update_plan memory_search memory_get memory_recall memory_store memory_forget whatsapp_login
  llm-task lobster voice_call diffs zalouser feishu_doc feishu_wiki feishu_drive feishu_perm feishu_chat feishu_app_scopes
  feishu_bitable_get_meta feishu_bitable_list_fields feishu_bitable_list_records feishu_bitable_get_record feishu_bitable_create_record
  feishu_bitable_update_record firecrawl_search firecrawl_scrape tavily_search tavily_extract`);

/** Commands of nodes in all documented versions. A node may bring others; `src/nodes` says which are allowed unless the configuration says otherwise. */
export const NODE_COMMANDS: ReadonlySet<string> = new Set(
  words(`
  system.run system.which system.notify system.execApprovals.get system.execApprovals.set browser.proxy file.read file.write
  canvas.present canvas.hide canvas.navigate canvas.eval canvas.snapshot canvas.a2ui.push canvas.a2ui.pushJSONL canvas.a2ui.reset
  camera.list camera.snap camera.clip screen.record location.get sms.send device.info device.status contacts.search contacts.add calendar.events
  calendar.add reminders.list reminders.add photos.latest motion.activity motion.pedometer`),
);

/** Plugins that come with this program or with the documented system. */
const PLUGINS = words(`
  memory-core memory-lancedb memory-wiki voice-call llm-task lobster copilot-proxy diagnostics-otel google-antigravity-auth google-gemini-cli-auth
  minimax-portal-auth qwen-portal-auth open-prose phone-control device-pair talk-voice thread-ownership acpx diffs firecrawl tavily brave
  audit-log echo-channel memory-injection tool-preflight`);

/** Providers that need no configuration to be known, under each of their names. */
/** Providers whose models the built-in catalogue knows. */
export const PROVIDERS: readonly string[] = words(`
  anthropic openai openai-codex google google-vertex google-gemini-cli google-antigravity gemini xai grok mistral deepseek deepgram voyage
  openrouter opencode opencode-zen opencode-go zen vercel-ai-gateway cloudflare-ai-gateway litellm kilocode groq cerebras synthetic venice together huggingface
  nvidia qianfan xiaomi qwen-portal qwen modelstudio chutes moonshot kimi kimi-coding kimi-code zai z.ai z-ai glm minimax minimax-cn minimax-portal amazon-bedrock bedrock
  aws-bedrock github-copilot copilot-proxy ollama vllm lmstudio llamacpp sglang volcengine volcengine-plan doubao byteplus byteplus-plan azure
  azure-openai azure-openai-responses fireworks perplexity cohere builtin offline elevenlabs brave`);

/** Skills that come with the documented system. */
export const BUNDLED_SKILLS: ReadonlySet<string> = new Set(
  words(`
  1password apple-notes apple-reminders bear-notes blogwatcher blucli bluebubbles camsnap canvas clawhub coding-agent discord eightctl food-order gemini gifgrep github
  gog goplaces healthcheck himalaya imsg local-places mcporter model-usage nano-banana-pro nano-pdf notion obsidian openai-image-gen openai-whisper openai-whisper-api
  openhue oracle ordercli peekaboo sag session-logs sherpa-onnx-tts skill-creator slack songsee sonoscli spotify-player summarize things-mac tmux trello video-frames
  voice-call wacli weather xurl gh-issues`),
);

/** Words before a colon in a sender's id that are no channel. */
export const ID_PREFIXES: ReadonlySet<string> = new Set(
  words(
    "user uid uuid id tg username name nick email mail mailto phone tel chat chat_id chat_guid chat_identifier group room role channel thread dm direct bot app sip http https sms",
  ),
);

/** Names that exist on one installation besides those that are built in. */
export interface KnownNames {
  /** Of tools of plugins. */
  readonly tools?: readonly string[];
  readonly plugins?: readonly string[];
  readonly channels?: readonly string[];
  readonly providers?: readonly string[];
  /** Nothing else can have a tool: a name that is not known means nothing. */
  readonly complete: boolean;
  /** Plugins run: only those that are off or failed could have more tools. A name in a deny list that is nearly a known one is taken for a slip then. */
  readonly registered?: boolean;
  /** `plugins` of the configuration that this was found out for, as JSON; any other may bring other names. Absent: it holds for all. */
  readonly section?: string;
}

/** The part of a configuration that decides which plugins there are. */
export const pluginsSection = (config: unknown): string => JSON.stringify(valueAt(config, ["plugins"]) ?? null);

/** Everything that a name may mean: what is built in, and what this installation and its configuration add. */
export interface NameTable {
  readonly groups: ReadonlySet<string>;
  readonly tools: ReadonlySet<string>;
  readonly plugins: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
  readonly providers: ReadonlySet<string>;
}

const keysAt = (config: unknown, ...path: string[]): readonly string[] => {
  const found = valueAt(config, path);
  return typeof found === "object" && found !== null && !Array.isArray(found) ? Object.keys(found) : [];
};

const setOf = (...lists: readonly (readonly string[] | undefined)[]): ReadonlySet<string> =>
  new Set(lists.flatMap((list) => (list ?? []).map((name) => name.trim().toLowerCase())));

export function nameTable(config: unknown, names: KnownNames | undefined): NameTable {
  const channels = setOf(CHANNEL_IDS, names?.channels, keysAt(config, "channels"));
  const plugins = setOf(PLUGINS, CHANNEL_IDS, names?.plugins, keysAt(config, "plugins", "entries"), keysAt(config, "plugins", "installs"));
  const profiles = keysAt(config, "auth", "profiles").map((id) => valueAt(config, ["auth", "profiles", id, "provider"]));
  const own = profiles.filter((provider) => typeof provider === "string");
  return {
    groups: new Set(GROUPS),
    // A plugin's id stands for all its tools, and channels have tools of their own name.
    tools: setOf([...BUILTIN_TOOL_NAMES], TOOLS, names?.tools, [...plugins], [...channels]),
    plugins,
    channels,
    providers: setOf(PROVIDERS, names?.providers, keysAt(config, "models", "providers"), own),
  };
}

/** Plugins that come with this program: none of them has a tool that is not listed above. */
export const OWN_PLUGINS: ReadonlySet<string> = new Set([
  ...KNOWN_CHANNELS.filter(({ bundled }) => bundled === true).map(({ id }) => id),
  ...words("audit-log echo-channel memory-injection tool-preflight memory-core"),
]);
