/**
 * Commands that have commands below them. A table loads none of them. `gateway` is in `index.ts`, because a gateway starts with as few files as possible;
 * `config`, `message` and `plugins` have theirs in their folders.
 */
import type { Group } from "../command.ts";

export const security: Group = {
  entries: [
    { name: "audit", summary: "what an attacker could use: settings, files, chats, plugins", load: async () => (await import("./security.ts")).securityAudit },
  ],
  examples: [
    { line: "openclaw security audit", does: "what is risky, and what to do about it" },
    { line: "openclaw security audit --fix", does: "and the repairs that are safe to make" },
  ],
};

export const devices: Group = {
  entries: [
    { name: "list", summary: "devices that wait and devices that are in", load: async () => (await import("./devices.ts")).list },
    { name: "approve", summary: "let a waiting device in", load: async () => (await import("./devices.ts")).approve },
    { name: "reject", summary: "turn a waiting device away", load: async () => (await import("./devices.ts")).reject },
    { name: "remove", summary: "forget a device and its tokens", load: async () => (await import("./devices.ts")).remove },
    { name: "rotate", summary: "give a device a new token", load: async () => (await import("./devices.ts")).rotate },
    { name: "revoke", summary: "take a device's token away", load: async () => (await import("./devices.ts")).revoke },
    { name: "clear", summary: "forget all other devices", load: async () => (await import("./devices.ts")).clear },
  ],
  examples: [{ line: "openclaw devices list", does: "who waits and who is in" }],
};

const camera: Group = {
  entries: [
    { name: "list", summary: "the cameras of a node", load: async () => (await import("./nodes/invoke.ts")).cameraList },
    { name: "snap", summary: "take a picture", load: async () => (await import("./nodes/invoke.ts")).cameraSnap },
    { name: "clip", summary: "record a short video", load: async () => (await import("./nodes/invoke.ts")).cameraClip },
  ],
  examples: [],
};

const screen: Group = {
  entries: [{ name: "record", summary: "record the screen", load: async () => (await import("./nodes/invoke.ts")).screenRecord }],
  examples: [],
};

const location: Group = {
  entries: [{ name: "get", summary: "where a node is", load: async () => (await import("./nodes/invoke.ts")).locationGet }],
  examples: [],
};

const a2ui: Group = {
  entries: [
    { name: "push", summary: "show what A2UI messages describe", load: async () => (await import("./nodes/canvas.ts")).canvasPush },
    { name: "reset", summary: "remove what was pushed", load: async () => (await import("./nodes/canvas.ts")).canvasReset },
  ],
  examples: [],
};

const canvas: Group = {
  entries: [
    { name: "present", summary: "show the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasPresent },
    { name: "hide", summary: "hide the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasHide },
    { name: "navigate", summary: "show another page", load: async () => (await import("./nodes/canvas.ts")).canvasNavigate },
    { name: "eval", summary: "run a script in the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasEval },
    { name: "snapshot", summary: "take a picture of the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasSnapshot },
    { name: "a2ui", summary: "interfaces that messages describe", load: () => Promise.resolve(a2ui) },
  ],
  examples: [],
};

export const nodes: Group = {
  entries: [
    { name: "status", summary: "nodes and whether they are connected", load: async () => (await import("./nodes/list.ts")).status },
    { name: "list", summary: "pending requests and paired nodes", load: async () => (await import("./nodes/list.ts")).list },
    { name: "pending", summary: "nodes that wait for approval", load: async () => (await import("./nodes/list.ts")).pending },
    { name: "approve", summary: "approve a waiting node", load: async () => (await import("./nodes/list.ts")).approve },
    { name: "reject", summary: "reject a waiting node", load: async () => (await import("./nodes/list.ts")).reject },
    { name: "describe", summary: "what a node is and can do", load: async () => (await import("./nodes/list.ts")).describe },
    { name: "rename", summary: "give a node another name", load: async () => (await import("./nodes/list.ts")).rename },
    { name: "invoke", summary: "call a command of a node", load: async () => (await import("./nodes/invoke.ts")).invoke },
    { name: "run", summary: "run a program on a node", load: async () => (await import("./nodes/run.ts")).run },
    { name: "notify", summary: "show a notification on a node", load: async () => (await import("./nodes/invoke.ts")).notify },
    { name: "camera", summary: "pictures and videos of a node's cameras", load: () => Promise.resolve(camera) },
    { name: "canvas", summary: "show pages and interfaces on a node or in the Control UI", load: () => Promise.resolve(canvas) },
    { name: "screen", summary: "a node's screen", load: () => Promise.resolve(screen) },
    { name: "location", summary: "a node's location", load: () => Promise.resolve(location) },
  ],
  fallback: "status",
  examples: [{ line: "openclaw nodes status", does: "nodes and whether they are connected" }],
};

export const node: Group = {
  entries: [
    { name: "run", summary: "run this machine as a node in the foreground", load: async () => (await import("./node/run.ts")).run },
    { name: "status", summary: "whether this machine runs as a node", load: async () => (await import("./node/status.ts")).status },
    { name: "stop", summary: "stop the node on this machine", load: async () => (await import("./node/status.ts")).stop },
    { name: "install", summary: "let the node start with the machine, as a service", load: async () => (await import("./node/install.ts")).install },
    { name: "uninstall", summary: "remove the service", load: async () => (await import("./node/install.ts")).uninstall },
    { name: "restart", summary: "restart the service", load: async () => (await import("./node/install.ts")).restart },
  ],
  examples: [{ line: "openclaw node status", does: "whether this machine runs as a node" }],
};

export const pairing: Group = {
  entries: [
    { name: "list", summary: "senders that wait to be let in", load: async () => (await import("./pairing/requests.ts")).list },
    { name: "approve", summary: "let the sender in that holds a code", load: async () => (await import("./pairing/requests.ts")).approve },
    { name: "reject", summary: "turn the sender away that holds a code", load: async () => (await import("./pairing/requests.ts")).reject },
    { name: "owner", summary: "who may do everything from a chat", load: async () => (await import("./pairing/senders.ts")).owner },
    { name: "allowed", summary: "who may write, and who says so", load: async () => (await import("./pairing/senders.ts")).allowed },
    { name: "revoke", summary: "remove a sender from the approved ones", load: async () => (await import("./pairing/senders.ts")).revoke },
  ],
  examples: [{ line: "openclaw pairing approve telegram ABCD2345", does: "let in who was given this code" }],
};

const allowlist: Group = {
  entries: [
    { name: "add", summary: "a program that may run unasked", load: async () => (await import("./approvals/rules.ts")).add },
    { name: "remove", summary: "take one off the list", load: async () => (await import("./approvals/rules.ts")).remove },
  ],
  examples: [{ line: "openclaw approvals allowlist add '/usr/bin/git' --agent main", does: "git without asking, for one agent" }],
};

export const approvals: Group = {
  entries: [
    { name: "get", summary: "the rules for commands", load: async () => (await import("./approvals/rules.ts")).get },
    { name: "set", summary: "put other rules in their place", load: async () => (await import("./approvals/rules.ts")).set },
    { name: "allowlist", summary: "programs that may run unasked", load: () => Promise.resolve(allowlist) },
    { name: "remembered", summary: "commands that were allowed for good", load: async () => (await import("./approvals/questions.ts")).remembered },
    { name: "forget", summary: "ask about a remembered command again", load: async () => (await import("./approvals/questions.ts")).forget },
    { name: "pending", summary: "questions that wait for an answer", load: async () => (await import("./approvals/questions.ts")).pending },
    { name: "resolve", summary: "answer one", load: async () => (await import("./approvals/questions.ts")).resolve },
  ],
  fallback: "get",
  examples: [
    { line: "openclaw approvals", does: "the rules on this machine" },
    { line: "openclaw approvals pending", does: "what waits for an answer" },
  ],
};

export const channels: Group = {
  entries: [
    { name: "list", summary: "the configured accounts, and the logins of model providers", load: async () => (await import("./channels/list.ts")).list },
    { name: "status", summary: "how each account is, and what to do about it", load: async () => (await import("./channels/status.ts")).status },
    { name: "add", summary: "set up an account", load: async () => (await import("./channels/add.ts")).add },
    { name: "remove", summary: "turn an account off, or delete it", load: async () => (await import("./channels/accounts.ts")).remove },
    { name: "login", summary: "sign an account in", load: async () => (await import("./channels/accounts.ts")).login },
    { name: "logout", summary: "sign an account out", load: async () => (await import("./channels/accounts.ts")).logout },
    { name: "start", summary: "start an account that was stopped", load: async () => (await import("./channels/accounts.ts")).start },
    { name: "stop", summary: "stop an account; what is to be sent over it waits", load: async () => (await import("./channels/accounts.ts")).stop },
    { name: "restart", summary: "reconnect an account", load: async () => (await import("./channels/accounts.ts")).restart },
    { name: "capabilities", summary: "what each channel can do", load: async () => (await import("./channels/capabilities.ts")).capabilities },
    { name: "logs", summary: "what channels logged", load: async () => (await import("./channels/status.ts")).logs },
    { name: "resolve", summary: "ids of people and groups, by their names", load: async () => (await import("./channels/resolve.ts")).resolve },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw channels status", does: "how each account is" },
    { line: "openclaw channels list --no-usage", does: "what is configured" },
  ],
};

const groups: Group = {
  entries: [
    { name: "list", summary: "groups that an account knows", load: async () => (await import("./directory.ts")).groupsList },
    { name: "members", summary: "who is in a group", load: async () => (await import("./directory.ts")).groupMembers },
  ],
  fallback: "list",
  examples: [],
};

const peers: Group = {
  entries: [{ name: "list", summary: "people that an account knows", load: async () => (await import("./directory.ts")).peersList }],
  fallback: "list",
  examples: [],
};

export const directory: Group = {
  entries: [
    { name: "self", summary: "who the account itself is", load: async () => (await import("./directory.ts")).self },
    { name: "peers", summary: "people", load: async () => peers },
    { name: "groups", summary: "groups, and who is in them", load: async () => groups },
  ],
  examples: [],
};

export const agents: Group = {
  entries: [
    { name: "list", summary: "all agents: model, bindings, sessions, workspace", load: async () => (await import("./agents/list.ts")).list },
    { name: "add", summary: "one more agent, with a workspace of its own", load: async () => (await import("./agents/add.ts")).add },
    { name: "templates", summary: "what an agent can begin with", load: async () => (await import("./agents/list.ts")).templates },
    { name: "delete", summary: "remove an agent; its files go to the trash", load: async () => (await import("./agents/delete.ts")).remove },
    { name: "bindings", summary: "which messages go to which agent", load: async () => (await import("./agents/bindings.ts")).bindings },
    { name: "bind", summary: "send messages to an agent", load: async () => (await import("./agents/bindings.ts")).bind },
    { name: "unbind", summary: "no longer send them there", load: async () => (await import("./agents/bindings.ts")).unbind },
    { name: "set-identity", summary: "name, emoji, theme and picture of an agent", load: async () => (await import("./agents/set-identity.ts")).setIdentity },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw agents", does: "all agents" },
    { line: "openclaw agents add coder --template coder", does: "an agent for code" },
  ],
};

export const route: Group = {
  entries: [{ name: "explain", summary: "which agent answers a chat, in which session, and why", load: async () => (await import("./route.ts")).explain }],
  examples: [{ line: "openclaw route explain --channel telegram --peer user:123", does: "who answers this person" }],
};

const order: Group = {
  entries: [
    { name: "get", summary: "the agent's order of profiles for a provider", load: async () => (await import("./models/auth/profiles.ts")).orderGet },
    { name: "set", summary: "try these profiles, in this order", load: async () => (await import("./models/auth/profiles.ts")).orderSet },
    { name: "clear", summary: "back to the configured or automatic order", load: async () => (await import("./models/auth/profiles.ts")).orderClear },
  ],
  examples: [{ line: "openclaw models auth order get --provider anthropic", does: "who is tried first" }],
};

export const auth: Group = {
  entries: [
    { name: "status", summary: "the stored credentials and how they are", load: async () => (await import("./models/auth/status.ts")).status },
    {
      name: "clear",
      summary: "end rests: try credentials again that are left alone after failures",
      load: async () => (await import("./models/auth/status.ts")).clear,
    },
    { name: "add", summary: "store an API key", load: async () => (await import("./models/auth/profiles.ts")).add },
    { name: "login", summary: "log in to a provider: plugin, browser or device code", load: async () => (await import("./models/auth/login.ts")).login },
    {
      name: "login-github-copilot",
      summary: "log in to GitHub Copilot with a device code",
      load: async () => (await import("./models/auth/login.ts")).loginGithubCopilot,
    },
    { name: "setup-token", summary: "store a token made by `claude setup-token`", load: async () => (await import("./models/auth/profiles.ts")).setupToken },
    { name: "paste-token", summary: "store a token that was made elsewhere", load: async () => (await import("./models/auth/profiles.ts")).pasteToken },
    { name: "order", summary: "which profile is tried first", load: () => Promise.resolve(order) },
  ],
  fallback: "status",
  examples: [{ line: "openclaw models auth status", does: "what is stored, masked" }],
};

const fallbacks = async (kind: "model" | "imageModel") => (await import("./models/fallbacks.ts")).fallbackCommands(kind);

export const models: Group = {
  entries: [
    { name: "status", summary: "which model answers, why, and whether it can be reached", load: async () => (await import("./models/status.ts")).status },
    { name: "list", summary: "the configured models, or all that are known", load: async () => (await import("./models/list.ts")).list },
    { name: "set", summary: "choose the default model", load: async () => (await import("./models/set.ts")).set },
    { name: "set-image", summary: "choose the model that looks at images", load: async () => (await import("./models/set.ts")).setImage },
    { name: "aliases", summary: "short names of models", load: async () => (await import("./models/aliases.ts")).aliases },
    { name: "fallbacks", summary: "models to go on with when the default fails", load: () => fallbacks("model") },
    { name: "image-fallbacks", summary: "the same for the image model", load: () => fallbacks("imageModel") },
    { name: "scan", summary: "find free models at OpenRouter and try them", load: async () => (await import("./models/scan.ts")).scan },
    { name: "budgets", summary: "how much of each budget is used", load: async () => (await import("./models/budgets.ts")).budgets },
    { name: "auth", summary: "credentials: store, log in, order", load: async () => auth },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw models", does: "which model answers, and why" },
    { line: "openclaw models list --all --provider anthropic", does: "every known model of one provider" },
  ],
};

export const tools: Group = {
  entries: [
    { name: "explain", summary: "why a session has a tool, or not", load: async () => (await import("./tools.ts")).explain },
    { name: "list", summary: "the tools there are, their groups and where they come from", load: async () => (await import("./tools.ts")).list },
  ],
  fallback: "explain",
  examples: [
    { line: "openclaw tools", does: "every tool of the main session, and what decided about it" },
    { line: "openclaw tools list", does: "the tools there are" },
  ],
};

export const skills: Group = {
  entries: [
    { name: "list", summary: "the skills there are, and which can be used", load: async () => (await import("./skills/show.ts")).list },
    { name: "info", summary: "one skill: what it needs, where it is", load: async () => (await import("./skills/show.ts")).info },
    { name: "check", summary: "what is missing, and what changed since it was installed", load: async () => (await import("./skills/show.ts")).check },
    { name: "install", summary: "bring a skill in, or the programs that one needs", load: async () => (await import("./skills/install.ts")).install },
    { name: "update", summary: "bring newer content of installed skills", load: async () => (await import("./skills/install.ts")).update },
    { name: "remove", summary: "delete an installed skill", load: async () => (await import("./skills/install.ts")).remove },
    { name: "create", summary: "make a skill to start from", load: async () => (await import("./skills/author.ts")).create },
    { name: "test", summary: "say what will not work, without running it", load: async () => (await import("./skills/author.ts")).test },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw skills", does: "all skills, and which can be used" },
    { line: "openclaw skills check", does: "what the others need" },
  ],
};

export const sandbox: Group = {
  entries: [
    { name: "explain", summary: "whether a session's tools work inside, why, and what to change", load: async () => (await import("./sandbox.ts")).explain },
    { name: "list", summary: "the containers that were made", load: async () => (await import("./sandbox.ts")).list },
    { name: "recreate", summary: "remove containers; they are made again when they are used", load: async () => (await import("./sandbox.ts")).recreate },
  ],
  fallback: "explain",
  examples: [{ line: "openclaw sandbox explain", does: "the main session of the default agent" }],
};

export const backup: Group = {
  entries: [
    { name: "create", summary: "make a backup, also while the gateway runs", load: async () => (await import("./backup/create.ts")).create },
    { name: "verify", summary: "read a backup and compare every hash", load: async () => (await import("./backup/create.ts")).verify },
    { name: "restore", summary: "bring a backup back; what was there is kept", load: async () => (await import("./backup/restore.ts")).restore },
  ],
  examples: [
    { line: "openclaw backup create", does: "into the current folder" },
    { line: "openclaw backup verify openclaw-backup-….tar.gz", does: "is it whole?" },
  ],
};

export const hooks: Group = {
  entries: [
    { name: "list", summary: "all hooks: which are on, and why others are not", load: async () => (await import("./hooks/show.ts")).list },
    { name: "info", summary: "everything known about one hook", load: async () => (await import("./hooks/show.ts")).info },
    { name: "check", summary: "how many hooks can be used, and what the others need", load: async () => (await import("./hooks/show.ts")).check },
    { name: "enable", summary: "turn a hook on", load: async () => (await import("./hooks/change.ts")).enable },
    { name: "disable", summary: "turn a hook off", load: async () => (await import("./hooks/change.ts")).disable },
    { name: "install", summary: "bring hooks in: folder, archive or npm package", load: async () => (await import("./hooks/change.ts")).install },
    { name: "update", summary: "newer versions of hooks from npm", load: async () => (await import("./hooks/change.ts")).update },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw hooks list", does: "all hooks" },
    { line: "openclaw hooks enable session-memory", does: "save conversations when /new is used" },
  ],
};

export const cron: Group = {
  entries: [
    { name: "status", summary: "whether jobs run, and when the next one is due", load: async () => (await import("./cron/show.ts")).status },
    { name: "list", summary: "all jobs, with their next and last run", load: async () => (await import("./cron/show.ts")).list },
    { name: "add", summary: "schedule a job", load: async () => (await import("./cron/change.ts")).add },
    { name: "create", summary: "the same as add", load: async () => (await import("./cron/change.ts")).add },
    { name: "edit", summary: "change a job", load: async () => (await import("./cron/change.ts")).edit },
    { name: "enable", summary: "let a job run again", load: async () => (await import("./cron/change.ts")).enable },
    { name: "disable", summary: "stop running a job", load: async () => (await import("./cron/change.ts")).disable },
    { name: "rm", summary: "remove a job", load: async () => (await import("./cron/change.ts")).remove },
    { name: "remove", summary: "the same as rm", load: async () => (await import("./cron/change.ts")).remove },
    { name: "delete", summary: "the same as rm", load: async () => (await import("./cron/change.ts")).remove },
    { name: "run", summary: "run a job now", load: async () => (await import("./cron/change.ts")).run },
    { name: "runs", summary: "how the last runs of a job went", load: async () => (await import("./cron/show.ts")).runs },
    { name: "next", summary: "when an expression matches next", load: async () => (await import("./cron/show.ts")).next },
  ],
  examples: [
    { line: "openclaw cron list", does: "all jobs" },
    { line: 'openclaw cron next "0 9 * * 1-5" --tz Europe/Berlin', does: "the next times of an expression" },
  ],
};

export const system: Group = {
  entries: [
    { name: "event", summary: "tell the agent that something happened", load: async () => (await import("./system.ts")).event },
    { name: "heartbeat", summary: "how the last heartbeat went; turn them off and on", load: async () => (await import("./system.ts")).heartbeat },
    { name: "presence", summary: "programs that are connected", load: async () => (await import("./system.ts")).presence },
  ],
  examples: [
    { line: "openclaw system heartbeat last", does: "how the last heartbeat went" },
    { line: 'openclaw system event --text "The backup has finished" --mode now', does: "the agent acts on it now" },
  ],
};

const gmail: Group = {
  entries: [
    { name: "setup", summary: "register a mailbox with Google and write the settings", load: async () => (await import("./webhooks/gmail-setup.ts")).setup },
    { name: "run", summary: "watch the mailbox here, outside of the gateway", load: async () => (await import("./webhooks/gmail-run.ts")).run },
  ],
  examples: [{ line: "openclaw webhooks gmail setup --help", does: "what it needs" }],
};

export const webhooks: Group = {
  entries: [{ name: "gmail", summary: "mail that Gmail reports", load: () => Promise.resolve(gmail) }],
  examples: [{ line: "openclaw webhooks gmail --help", does: "set up, and run" }],
};

export const memory: Group = {
  entries: [
    { name: "status", summary: "what is indexed, and whether it is up to date", load: async () => (await import("./memory/status.ts")).status },
    { name: "index", summary: "bring the index up to date, or make it again", load: async () => (await import("./memory/status.ts")).index },
    { name: "search", summary: "search notes and conversations", load: async () => (await import("./memory/search.ts")).search },
    { name: "why", summary: "search, and say what put each passage where it is", load: async () => (await import("./memory/search.ts")).why },
    { name: "eval", summary: "measure the search on your own questions", load: async () => (await import("./memory/measure.ts")).evaluate },
    { name: "export", summary: "every passage with where it is from", load: async () => (await import("./memory/measure.ts")).exportAll },
    { name: "forget", summary: "remove something for good, everywhere", load: async () => (await import("./memory/change.ts")).forget },
    {
      name: "suggest",
      summary: "notes that belong into MEMORY.md, because they are recalled often",
      load: async () => (await import("./memory/change.ts")).suggest,
    },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw memory", does: "what is indexed" },
    { line: 'openclaw memory search "who is our plumber"', does: "search notes and conversations" },
  ],
};
