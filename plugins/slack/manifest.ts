/** The app's manifest: pasted into Slack, it makes the app with all that this channel uses. */

const BOT_SCOPES = [
  "app_mentions:read",
  "assistant:write",
  "channels:history",
  "channels:read",
  "chat:write",
  "chat:write.customize",
  "commands",
  "emoji:read",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "mpim:write",
  "pins:read",
  "pins:write",
  "reactions:read",
  "reactions:write",
  "users:read",
  "users:read.email",
];

const EVENTS = [
  "app_mention",
  "channel_archive",
  "channel_created",
  "channel_id_changed",
  "channel_rename",
  "channel_unarchive",
  "member_joined_channel",
  "member_left_channel",
  "message.channels",
  "message.groups",
  "message.im",
  "message.mpim",
  "pin_added",
  "pin_removed",
  "reaction_added",
  "reaction_removed",
  "tokens_revoked",
  "app_uninstalled",
];

export interface ManifestOptions {
  readonly mode: "socket" | "http";
  readonly name?: string | undefined;
  /** Of the one slash command; undefined: the app has none. */
  readonly command?: string | undefined;
  /** Where Slack posts to, for HTTP mode. */
  readonly url?: string | undefined;
}

export function appManifest({ mode, name = "OpenClaw", command, url = "https://gateway.example/slack/events" }: ManifestOptions): object {
  const isHttp = mode === "http";
  const address = isHttp ? { url } : {};
  return {
    display_information: { name, description: "An assistant that runs on your own machine" },
    features: {
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: name, always_online: false },
      ...(command === undefined
        ? {}
        : {
            slash_commands: [
              { command: `/${command}`, description: "Ask the assistant", usage_hint: "question or /command", should_escape: false, ...address },
            ],
          }),
    },
    oauth_config: { scopes: { bot: BOT_SCOPES } },
    settings: {
      event_subscriptions: { bot_events: EVENTS, ...(isHttp ? { request_url: url } : {}) },
      interactivity: { is_enabled: true, ...(isHttp ? { request_url: url } : {}) },
      org_deploy_enabled: false,
      socket_mode_enabled: !isHttp,
      token_rotation_enabled: false,
    },
  };
}
