import { Type } from "typebox";
import { advanced, choice, count, flag, group, list, map, openGroup, secret, secretMap, sensitive, text, texts } from "./pieces.ts";
import { hookInstalls } from "./parts.ts";

const mapping = group("Turns one kind of request into work.", {
  id: text("Name of the mapping."),
  preset: choice("Takes the signed requests of this service; needs a secret. Other fields replace what the preset sets.", ["github", "stripe", "slack"]),
  secret: secret("Secret with which the service signs its requests."),
  match: openGroup("Which requests it takes.", { path: text("Path below the hooks path."), source: text("The request's source field.") }, Type.Unknown()),
  action: choice("wake adds an event to the main session, agent starts a turn.", ["wake", "agent"]),
  wakeMode: choice("When the agent sees it.", ["now", "next-heartbeat"]),
  name: text("Name shown in the session."),
  agentId: text("Agent that works on it."),
  sessionKey: text("Session it runs in; templates are filled in.", sensitive),
  messageTemplate: text("Message for the agent; {{field}} is filled from the request."),
  textTemplate: text("Text for a wake event."),
  deliver: flag("Send the answer to a chat."),
  allowUnsafeExternalContent: flag("Do not mark the content as untrusted.", advanced),
  channel: choice("Channel of the answer.", ["last", "whatsapp", "telegram", "discord", "irc", "slack", "signal", "imessage", "msteams"]),
  to: text("Recipient of the answer."),
  model: text("Model for this turn."),
  thinking: text("Thinking level for this turn."),
  timeoutSeconds: count("How long the turn may take."),
  transform: group(
    "Code that rewrites the request first.",
    { module: text("File below the transforms folder."), export: text("Name of the function; default when absent.") },
    ["module"],
  ),
});

const gmail = group("Mail that Gmail reports.", {
  account: text("Mail address."),
  label: text("Label to watch."),
  topic: text("Pub/Sub topic."),
  subscription: text("Pub/Sub subscription."),
  pushToken: secret("Token that Pub/Sub sends."),
  hookUrl: text("Address that mail is passed on to."),
  includeBody: flag("Pass on the text of mails."),
  maxBytes: count("Longest text passed on."),
  renewEveryMinutes: count("Minutes between two renewals of the watch."),
  allowUnsafeExternalContent: flag("Do not mark mails as untrusted.", advanced),
  serve: group("Where the watcher listens.", { bind: text("Address."), port: count("Port."), path: text("Path.") }),
  tailscale: group("How it is exposed.", {
    mode: choice("Tailscale mode.", ["off", "serve", "funnel"]),
    path: text("Path."),
    target: text("Local target."),
  }),
  model: text("Model for mails."),
  thinking: choice("Thinking level for mails.", ["off", "minimal", "low", "medium", "high"]),
});

const internal = group("Code that runs on events inside the gateway.", {
  enabled: flag("Load such hooks."),
  handlers: list(
    "Modules by event.",
    group("One handler.", { event: text("Event name."), module: text("File to load."), export: text("Name of the function.") }, ["event", "module"]),
  ),
  entries: map("Settings by hook.", openGroup("One hook.", { enabled: flag("Load it."), env: secretMap("Environment variables for it.") }, Type.Unknown())),
  load: group("Where hooks are searched.", { extraDirs: texts("More folders.") }),
  installs: hookInstalls("Installed hook packs; written by the install command."),
});

export const hooks = group("Work that comes in over HTTP, and code on events.", {
  enabled: flag("Accept webhook requests; needs a token."),
  path: text("Path they are accepted under; not /."),
  token: secret("Token that senders must know; must differ from the gateway's."),
  defaultSessionKey: text("Session for requests that name none."),
  allowRequestSessionKey: flag("Let requests choose their session."),
  allowedSessionKeyPrefixes: texts("Prefixes that session keys must have."),
  allowedAgentIds: texts("Agents that requests may name; none when empty, * is any."),
  maxBodyBytes: count("Largest request.", advanced),
  presets: texts("Built-in mappings to switch on."),
  transformsDir: text("Folder of transform modules.", advanced),
  mappings: list("Own mappings, first match wins.", mapping),
  gmail,
  internal,
});
