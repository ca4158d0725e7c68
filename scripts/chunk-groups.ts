/**
 * Which files are bundled together. Every file costs about half a millisecond to find, read and link: what is needed together comes in one, and what a
 * start does not need stays out of it. `scripts/bundle.test.ts` holds what may be loaded with what.
 */

/** Files by their paths: alternatives of an expression. */
const files = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join("|"));

/** The first that fits takes a file; the order is from what everything needs to what one command needs. */
export const CHUNK_GROUPS = [
  {
    name: "base",
    test: files(
      "src/base/(?:errors|text|files|clock|failpoints|builtin|lazy|memory-care|printable|process-identity|program-name|redaction|secret-search|message-text|session-name)\\.ts",
      "src/store/(?:areas/usage|patched-entry|private-fields|retention|sqlite/failure|projection/transcript-path)\\.ts",
      "src/protocol/transcript\\.ts",
      "src/models/index\\.ts",
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
      "src/config/[a-z-]*(?:load|snapshot|dotenv|environment|include|last-good|missing-file|names-plugins|origin|path|source-files|tilde|version|sha256)\\.ts",
      "src/config/(?:document/|migrate/|schema/index|validate/(?!hints|schema-export))",
      "src/cli/(?:config-source|commands/config/(?:index|validate))\\.ts",
    ),
  },
  // What every plugin's entry needs, and what host and plugins share; then the rest, and what needs zod.
  { name: "sdk-entry", test: files("src/plugins/sdk/(?:plugin-entry|plugin-config|account-ids|host-binding|diagnostic-events|log-transports)\\.ts") },
  { name: "zod", test: files("node_modules/zod/") },
  { name: "sdk-schemas", test: files("src/plugins/sdk/(?:schemas|secrets|channels/config-schemas)\\.ts") },
  { name: "sdk-network", test: files("src/plugins/sdk/(?:guarded-fetch|ssrf|web-media)\\.ts") },
  { name: "sdk", test: files("src/plugins/sdk/(?!paths|vendor|newer)") },
  {
    name: "inventory",
    test: files(
      "src/plugins/(?:inventory/|record\\.|install/journal)",
      "src/cli/(?:plugin-source|plugin-commands/declared|commands/plugins/(?:index|list|record))\\.ts",
    ),
  },
  { name: "channel-text", test: files("src/channels/(?:text/|reactions/|rich-text/(?!parse))") },
  { name: "thread", test: files("src/store/(?:warm-up|lock-holders|sqlite/thread)\\.ts", "src/base/watchdog/(?:stop-signals|exit-note|loop-monitor)\\.ts") },
  { name: "engine", test: files("src/store/(?:sqlite/(?:areas/|connection|handlers|open|migrations|schema)|projection/)") },
  {
    name: "app",
    test: files(
      "src/app/(?:create-app|current-hooks|health|index|lifetime|listen|log-file|logging|maintenance|media-expiry|raw-stream|reload)\\.ts",
      "src/app/restart/(?!sentinel)",
      "src/gateway/(?:server|bind|certificate|address-budget|early|stop-reason|auth/settings)\\.ts",
      "src/base/(?:log/(?!read)|instance-lock|random|ids|inherited-environment)",
      "src/media/index\\.ts",
      "src/config/(?:config|state-lock|held|redact|diff|reload-rules|secrets|version-keeper|shell-environment)\\.ts",
      "src/store/(?:open|backup/restore-request|remembered-sessions|sqlite/(?:client|messages|sender|waiting|status|reads))\\.ts",
    ),
  },
  {
    name: "plugin-host",
    test: files(
      "src/app/plugins/(?!index|admin|names|sections)",
      "src/plugins/(?:host|registry|load)/",
      "src/hooks/(?!hook-log|catalog|trace)",
      "node_modules/es-module-lexer",
    ),
  },
  {
    name: "hub",
    test: files(
      "src/app/(?:open-gateway|runnable|own-caller|models|turn-code|plugins/(?:index|admin|names|sections))\\.ts",
      "src/tools/(?:authority/|exec/(?:levels|settings)|sandbox/settings)",
      "src/app/agent/(?:index|answering|owners|asked-commands|gateway-ports|gateway-tool|session-endings|workspaces)",
      "src/app/conversation/(?:open|channels|channel-table|lazy|ports|section-check)",
      "src/hooks/(?:hook-log|catalog|trace)",
      "src/conversation/(?:create-conversation|index|inbound|item|closing|open-items|intake/|lanes/|turns/|delivery/(?:shown-replies|sending-hooks|told)\\.|commands/parsing/(?:pace|message)\\.)",
      "src/channels/(?:access/|inbound/|pairing/|manager/|sections)",
      "src/routing/",
      "src/gateway/(?!tools/|http/tools-invoke|methods/view/(?:context|export|markdown)|welcome-page|http/control-ui/(?!base-path|routes))",
      "src/sessions/",
      "src/base/image-check\\.ts",
      "src/store/observed\\.ts",
      "src/models/answering-model\\.ts",
      "src/overview/(?:index|open|runs)\\.ts",
      "src/config/(?:default-agent|agent-workspace|describe-schema)",
      "src/protocol/(?!client|validators|answers|schemas|check)",
      "src/base/(?:rooted-files|equal-secrets|deadlines|log/read)",
    ),
  },
];
