/**
 * Which files are bundled together. Every file costs about half a millisecond to find, read and link: what is needed together comes in one, and what a
 * start does not need stays out of it. Measured: a start takes 183 ms of processor time with these groups and 205 ms with the bundler's own choice of
 * chunks (458 files), which is more than five times a bare Node. To remove them: leave `codeSplitting` out of `scripts/build.ts`; nothing else depends on
 * them but `scripts/bundle.test.ts`, which holds what may be loaded with what.
 */

/** Files by their paths: alternatives of an expression. */
const files = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join("|"));

/** Files of the SDK that its root does not need: a plugin loads them with the sub-path that it imports. */
const SDK_SUB_PATHS_ONLY = [
  "unbuilt",
  "entry/(?:channel-entry|chat-channel)",
  "config/(?:account-lists|channel-schemas|config-adapters|directories|secret-contract|secret-files|setup-config|setup-wizard)",
  "access/(?:allow-checks|approvals|group-policies|ingress)",
  "messages/(?:outbound-parts|pairing|reply-payloads|send-results|session-keys|status-adapters)",
  "network/(?:host-names|http|oauth|webhook-guards)",
  "media/outbound-media",
  "values/(?:numbers|small)",
];

/** The first that fits takes a file; the order is from what everything needs to what one command needs. */
export const CHUNK_GROUPS = [
  {
    name: "base",
    test: files(
      "src/base/(?:errors|text|files|records|binary|clock|failpoints|builtin|lazy|memory-care|runtime-internals|printable|process-identity|program-name|redaction|secret-search|slices|message-text|user-text|session-name|thinking|erase-text|when-aborted)\\.ts",
      "src/store/(?:areas/(?:usage|sessions|trash)|private-fields|retention|sqlite/failure|projection/transcript-path)\\.ts",
      "src/protocol/transcript\\.ts",
      "src/models/index\\.ts",
      "src/(?:plugins|tools)/lazy\\.ts",
      "src/automation/(?:index|lazy-cron|lazy-subagents|lazy-webhooks|cron/jobs-file|lazy-heartbeat)\\.ts",
      "src/nodes/index\\.ts",
      "rolldown/runtime",
    ),
  },
  {
    name: "frame",
    test: files(
      "src/cli/(?:arguments|command|dispatch|failure|help|io|output/style|output/table|commands/index)\\.ts",
      "src/config/(?:env|paths|profile|value)\\.ts",
    ),
  },
  {
    name: "config",
    test: files(
      "src/config/[a-z-]*(?:load|snapshot|dotenv|environment|include|last-good|missing-file|names-plugins|origin|json-schema|known-channels|path|source-files|tilde|version|sha256)\\.ts",
      "src/config/(?:document/|migrate/|schema/index|validate/)",
      "src/base/account-keys\\.ts",
      "src/cli/(?:config-source|commands/config/index)\\.ts",
    ),
  },
  // What every plugin's entry needs, and what host and plugins share; then the rest, and what needs zod.
  { name: "sdk-entry", test: files("src/plugins/sdk/(?:entry/plugin-(?:entry|config)|account-ids|host-binding|diagnostics)\\.ts") },
  { name: "zod", test: files("node_modules/zod/") },
  { name: "sdk-schemas", test: files("src/plugins/sdk/(?:config/(?:schemas|secrets)|channels/config-schemas)\\.ts") },
  { name: "sdk-network", test: files("src/plugins/sdk/(?:network/(?:guarded-fetch|ssrf)|media/web-media)\\.ts") },
  // What channels are made of. WebSockets are a chunk of their own: `openSocket` loads them with the first one.
  { name: "channel-kit", test: files("src/plugins/sdk/kit/") },
  { name: "sdk-accounts", test: files("src/plugins/sdk/(?:config/(?:account-lists|secret-files|setup-config)|network/webhook-guards|values/small)\\.ts") },
  { name: "sdk", test: files(`src/plugins/sdk/(?!paths|vendor|(?:${SDK_SUB_PATHS_ONLY.join("|")})\\.ts)`) },
  {
    name: "inventory",
    test: files(
      "src/plugins/(?:inventory/|record\\.|install/journal)",
      "src/cli/(?:plugin-source|plugin-commands/declared|commands/plugins/(?:index|record))\\.ts",
    ),
  },
  { name: "canvas", test: files("src/nodes/canvas/(?!create-canvas|paths|tool)", "src/protocol/a2ui/") },
  { name: "voice", test: files("src/voice/(?!index|types|preferences-path)") },
  { name: "imaging", test: files("src/imaging/(?!index|types)") },
  { name: "understanding", test: files("src/understanding/(?!index|types)", "src/app/open-understanding\\.ts") },
  { name: "documents", test: files("src/media/documents/(?:create-documents|types)\\.ts") },
  // The declaration of its tool is needed by every turn, the rest by the first call.
  { name: "browser-tool", test: files("src/browser/(?:tool/|params|settings)") },
  { name: "browser", test: files("src/browser/(?!index)") },
  { name: "heartbeat", test: files("src/automation/heartbeat/", "src/automation/time-line.ts") },
  { name: "cron", test: files("src/automation/(?:cron|webhooks)/", "node_modules/croner/") },
  { name: "internal-hooks", test: files("src/automation/internal-hooks/") },
  { name: "subagents", test: files("src/automation/subagents/") },
  { name: "channel-text", test: files("src/channels/(?:text/|rich-text/(?!parse))") },
  { name: "thread", test: files("src/store/(?:lock-holders|client/start-thread)\\.ts", "src/base/watchdog/(?:exit-note|loop-monitor)\\.ts") },
  { name: "engine", test: files("src/store/(?:sqlite/(?:areas/|connection|handlers|open|migrations|schema)|projection/)") },
  {
    name: "app",
    test: files(
      "src/app/(?:create-app|index|lifetime)\\.ts",
      "src/gateway/restart/(?!sentinel)",
      "src/gateway/(?:server|bind|certificate|address-budget|stop-reason|report-health|watchdog|auth/settings)\\.ts",
      "src/base/(?:log/(?!read)|instance-lock|random|ids|inherited-environment)",
      "src/media/index\\.ts",
      "src/config/(?:config|gateway-start|reload|held|redact|diff|reload-rules|secrets|version-keeper|shell-environment)\\.ts",
      "src/store/(?:maintenance|messages|backup/restore-request|client/(?!start-thread)[a-z-]*)\\.ts",
    ),
  },
  {
    name: "plugin-host",
    test: files(
      "src/plugins/running/(?!create-plugins|gateway-ports|names|cron-service)",
      "src/plugins/runtime/conversation/",
      "src/plugins/(?:host|registry|load)/",
      "src/hooks/(?!hook-log|catalog|internal-hooks)",
      "node_modules/es-module-lexer",
    ),
  },
  {
    name: "hub",
    test: files(
      "src/app/(?:core|open-modules|open-automation|open-heartbeat|open-nodes|open-internal-hooks|open-subagents|open-webhooks|answering|lazy-agent|open-conversation|gateway-ports|media-spending|session-titles|turn-code)\\.ts",
      "src/automation/lazy-[a-z-]*\\.ts",
      "src/nodes/(?:create-nodes|registry|commands|recent-invokes|lazy-runner|canvas/(?:create-canvas|paths))\\.ts",
      "src/plugins/running/(?:create-plugins|gateway-ports|names|cron-service)\\.ts",
      "src/tools/(?:authority/(?!caller-settings)|approvals/shown-request|exec/settings|sandbox/settings)",
      "src/hooks/(?:hook-log|catalog|internal-hooks)",
      "src/conversation/(?:create-conversation|index|inbound|items|item-end|button-seal|closing|lanes|slots|run-channels|approvals/pending-commands|intake/|turns/|delivery/(?:delivery|message-hooks|receipt)\\.|commands/commands\\.|commands/parsing/message\\.)",
      "src/channels/(?:access/|inbound/|pairing/|manager/|settings)",
      "src/routing/",
      "src/gateway/(?!tools/|http/tools-invoke|http/openai/files\\.|methods/view/(?:context|export|html|markdown)|methods/(?:backups|update)/|welcome-page|http/control-ui/(?!routes))",
      "src/sessions/",
      "src/base/(?:image-check|binary)\\.ts",
      "src/voice/(?:index|types|preferences-path)\\.ts",
      "src/understanding/index\\.ts",
      "src/imaging/(?:index|types)\\.ts",
      "src/media/(?:mime|documents/(?:kinds|file-block))\\.ts",
      "src/browser/index\\.ts",
      "src/models/(?:answering-model|lazy-models)\\.ts",
      "src/overview/(?:index|runs|state-log)\\.ts",
      "src/config/(?:agent-workspace|asks-chats|describe-schema|heartbeat)",
      "src/protocol/(?!client|answers|schemas|check|a2ui)",
      "src/base/(?:canonical-json|rooted-files|equal-secrets|deadlines|log/read)",
      // What asks the memory's thread; the rest of the memory is that thread's own.
      "src/memory/(?:[a-z-]*\\.ts|notes/|versions/|forget/|thread/(?:client|note-files)\\.ts)",
    ),
  },
];
