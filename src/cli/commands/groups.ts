/**
 * Commands that have commands below them. A table loads none of them. `gateway` is in `index.ts`, because a gateway starts with as few files as possible;
 * `config`, `message`, `plugins` and `sessions` have theirs in their folders.
 */
import type { Group } from "../command.ts";

export const security: Group = {
  entries: [{ name: "audit", summary: "Check settings, files and plugins for risks", load: async () => (await import("./security.ts")).securityAudit }],
  examples: [
    { line: "openclaw security audit", does: "Show risks and how to fix them" },
    { line: "openclaw security audit --fix", does: "Show risks and apply the safe fixes" },
  ],
};

export const devices: Group = {
  entries: [
    { name: "list", summary: "List pending and paired devices", load: async () => (await import("./devices.ts")).list },
    { name: "approve", summary: "Approve a pending device", load: async () => (await import("./devices.ts")).approve },
    { name: "reject", summary: "Reject a pending device", load: async () => (await import("./devices.ts")).reject },
    { name: "remove", summary: "Remove a device and its tokens", load: async () => (await import("./devices.ts")).remove },
    { name: "rotate", summary: "Issue a new token", load: async () => (await import("./devices.ts")).rotate },
    { name: "revoke", summary: "Revoke a token", load: async () => (await import("./devices.ts")).revoke },
    { name: "clear", summary: "Remove all other devices", load: async () => (await import("./devices.ts")).clear },
  ],
  examples: [{ line: "openclaw devices list", does: "Pending and paired devices" }],
};

const camera: Group = {
  entries: [
    { name: "list", summary: "List the cameras", load: async () => (await import("./nodes/invoke.ts")).cameraList },
    { name: "snap", summary: "Take a picture", load: async () => (await import("./nodes/invoke.ts")).cameraSnap },
    { name: "clip", summary: "Record a short video", load: async () => (await import("./nodes/invoke.ts")).cameraClip },
  ],
  examples: [],
};

const screen: Group = {
  entries: [{ name: "record", summary: "Record the screen", load: async () => (await import("./nodes/invoke.ts")).screenRecord }],
  examples: [],
};

const location: Group = {
  entries: [{ name: "get", summary: "Show the location of a node", load: async () => (await import("./nodes/invoke.ts")).locationGet }],
  examples: [],
};

const a2ui: Group = {
  entries: [
    { name: "push", summary: "Show an A2UI interface", load: async () => (await import("./nodes/canvas.ts")).canvasPush },
    { name: "reset", summary: "Reset the A2UI interface", load: async () => (await import("./nodes/canvas.ts")).canvasReset },
  ],
  examples: [],
};

const canvas: Group = {
  entries: [
    { name: "present", summary: "Show the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasPresent },
    { name: "hide", summary: "Hide the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasHide },
    { name: "navigate", summary: "Navigate to another page", load: async () => (await import("./nodes/canvas.ts")).canvasNavigate },
    { name: "eval", summary: "Run a script in the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasEval },
    { name: "snapshot", summary: "Take a screenshot of the canvas", load: async () => (await import("./nodes/canvas.ts")).canvasSnapshot },
    { name: "a2ui", summary: "A2UI interfaces", load: () => Promise.resolve(a2ui) },
  ],
  examples: [],
};

export const nodes: Group = {
  entries: [
    { name: "status", summary: "Show nodes and their connection", load: async () => (await import("./nodes/list.ts")).status },
    { name: "list", summary: "List pending requests and paired nodes", load: async () => (await import("./nodes/list.ts")).list },
    { name: "pending", summary: "List pending nodes", load: async () => (await import("./nodes/list.ts")).pending },
    { name: "approve", summary: "Approve a pending node", load: async () => (await import("./nodes/list.ts")).approve },
    { name: "reject", summary: "Reject a pending node", load: async () => (await import("./nodes/list.ts")).reject },
    { name: "describe", summary: "Show what a node is and can do", load: async () => (await import("./nodes/list.ts")).describe },
    { name: "rename", summary: "Rename a node", load: async () => (await import("./nodes/list.ts")).rename },
    { name: "invoke", summary: "Call a command of a node", load: async () => (await import("./nodes/invoke.ts")).invoke },
    { name: "run", summary: "Run a program on a node", load: async () => (await import("./nodes/run.ts")).run },
    { name: "file", summary: "Copy files to and from a node", load: async () => (await import("./nodes/file.ts")).file },
    { name: "notify", summary: "Show a notification on a node", load: async () => (await import("./nodes/invoke.ts")).notify },
    { name: "camera", summary: "Take pictures and videos", load: () => Promise.resolve(camera) },
    { name: "canvas", summary: "Show pages and interfaces on a node or in the Control UI", load: () => Promise.resolve(canvas) },
    { name: "screen", summary: "A node's screen", load: () => Promise.resolve(screen) },
    { name: "location", summary: "A node's location", load: () => Promise.resolve(location) },
  ],
  fallback: "status",
  examples: [{ line: "openclaw nodes status", does: "Show nodes and their connection" }],
};

export const node: Group = {
  entries: [
    { name: "run", summary: "Run this machine as a node in the foreground", load: async () => (await import("./node/run.ts")).run },
    { name: "status", summary: "Show whether this machine runs as a node", load: async () => (await import("./node/status.ts")).status },
    { name: "stop", summary: "Stop the node on this machine", load: async () => (await import("./node/status.ts")).stop },
    { name: "install", summary: "Install the node as a service", load: async () => (await import("./node/install.ts")).install },
    { name: "uninstall", summary: "Uninstall the service", load: async () => (await import("./node/install.ts")).uninstall },
    { name: "restart", summary: "Restart the service", load: async () => (await import("./node/install.ts")).restart },
  ],
  examples: [{ line: "openclaw node status", does: "Show whether this machine runs as a node" }],
};

export const pairing: Group = {
  entries: [
    { name: "list", summary: "List pending pairing requests", load: async () => (await import("./pairing/requests.ts")).list },
    { name: "approve", summary: "Approve the sender with this code", load: async () => (await import("./pairing/requests.ts")).approve },
    { name: "reject", summary: "Reject the sender with this code", load: async () => (await import("./pairing/requests.ts")).reject },
    { name: "owner", summary: "Show or change the owners", load: async () => (await import("./pairing/senders.ts")).owner },
    { name: "allowed", summary: "List allowed senders", load: async () => (await import("./pairing/senders.ts")).allowed },
    { name: "revoke", summary: "Revoke a sender's access", load: async () => (await import("./pairing/senders.ts")).revoke },
  ],
  examples: [{ line: "openclaw pairing approve telegram ABCD2345", does: "Approve the sender with this code" }],
};

const allowlist: Group = {
  entries: [
    { name: "add", summary: "Allow a program", load: async () => (await import("./approvals/rules.ts")).add },
    { name: "remove", summary: "Remove a program", load: async () => (await import("./approvals/rules.ts")).remove },
  ],
  examples: [{ line: "openclaw approvals allowlist add '/usr/bin/git' --agent main", does: "Let one agent run git without approval" }],
};

export const approvals: Group = {
  entries: [
    { name: "get", summary: "Show the approval rules", load: async () => (await import("./approvals/rules.ts")).get },
    { name: "set", summary: "Replace the rules", load: async () => (await import("./approvals/rules.ts")).set },
    { name: "allowlist", summary: "Programs that run without approval", load: () => Promise.resolve(allowlist) },
    { name: "remembered", summary: "List saved approvals (allow-always)", load: async () => (await import("./approvals/questions.ts")).remembered },
    { name: "forget", summary: "Remove a saved approval", load: async () => (await import("./approvals/questions.ts")).forget },
    { name: "pending", summary: "List pending approvals", load: async () => (await import("./approvals/questions.ts")).pending },
    { name: "resolve", summary: "Approve or deny a pending command", load: async () => (await import("./approvals/questions.ts")).resolve },
  ],
  fallback: "get",
  examples: [
    { line: "openclaw approvals", does: "Show the rules on this machine" },
    { line: "openclaw approvals pending", does: "List pending approvals" },
  ],
};

export const channels: Group = {
  entries: [
    { name: "list", summary: "List accounts and model provider logins", load: async () => (await import("./channels/list.ts")).list },
    { name: "status", summary: "Show the status of each account", load: async () => (await import("./channels/status.ts")).status },
    { name: "add", summary: "Set up an account", load: async () => (await import("./channels/add.ts")).add },
    { name: "remove", summary: "Disable or delete an account", load: async () => (await import("./channels/accounts.ts")).remove },
    { name: "login", summary: "Sign an account in", load: async () => (await import("./channels/accounts.ts")).login },
    { name: "logout", summary: "Sign an account out", load: async () => (await import("./channels/accounts.ts")).logout },
    { name: "start", summary: "Start a stopped account", load: async () => (await import("./channels/accounts.ts")).start },
    { name: "stop", summary: "Stop an account; outgoing messages are queued", load: async () => (await import("./channels/accounts.ts")).stop },
    { name: "restart", summary: "Reconnect an account", load: async () => (await import("./channels/accounts.ts")).restart },
    { name: "capabilities", summary: "Show what each channel supports", load: async () => (await import("./channels/capabilities.ts")).capabilities },
    { name: "logs", summary: "Show channel log lines", load: async () => (await import("./channels/status.ts")).logs },
    { name: "resolve", summary: "Look up ids of people and groups by name", load: async () => (await import("./channels/resolve.ts")).resolve },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw channels status", does: "Status of each account" },
    { line: "openclaw channels list --no-usage", does: "Configured accounts" },
  ],
};

const groups: Group = {
  entries: [
    { name: "list", summary: "List groups", load: async () => (await import("./directory.ts")).groupsList },
    { name: "members", summary: "List the members of a group", load: async () => (await import("./directory.ts")).groupMembers },
  ],
  fallback: "list",
  examples: [],
};

const peers: Group = {
  entries: [{ name: "list", summary: "List people", load: async () => (await import("./directory.ts")).peersList }],
  fallback: "list",
  examples: [],
};

export const directory: Group = {
  entries: [
    { name: "self", summary: "Show the account's own id", load: async () => (await import("./directory.ts")).self },
    { name: "peers", summary: "People", load: async () => peers },
    { name: "groups", summary: "Groups and their members", load: async () => groups },
  ],
  examples: [],
};

export const agents: Group = {
  entries: [
    { name: "list", summary: "List agents", load: async () => (await import("./agents/list.ts")).list },
    { name: "add", summary: "Add an agent with its own workspace", load: async () => (await import("./agents/add.ts")).add },
    { name: "templates", summary: "List the agent templates", load: async () => (await import("./agents/list.ts")).templates },
    { name: "delete", summary: "Delete an agent; its files go to the trash", load: async () => (await import("./agents/delete.ts")).remove },
    { name: "bindings", summary: "List bindings", load: async () => (await import("./agents/bindings.ts")).bindings },
    { name: "bind", summary: "Route messages to an agent", load: async () => (await import("./agents/bindings.ts")).bind },
    { name: "unbind", summary: "Remove bindings", load: async () => (await import("./agents/bindings.ts")).unbind },
    { name: "set-identity", summary: "Set name, emoji, theme and avatar", load: async () => (await import("./agents/set-identity.ts")).setIdentity },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw agents", does: "All agents" },
    { line: "openclaw agents add coder --template coder", does: "Add a coding agent" },
  ],
};

export const route: Group = {
  entries: [{ name: "explain", summary: "Explain where a message is routed", load: async () => (await import("./route.ts")).explain }],
  examples: [{ line: "openclaw route explain --channel telegram --peer user:123", does: "Test the route for a person" }],
};

const order: Group = {
  entries: [
    { name: "get", summary: "Show the profile order for a provider", load: async () => (await import("./models/auth/profiles.ts")).orderGet },
    { name: "set", summary: "Set the profile order", load: async () => (await import("./models/auth/profiles.ts")).orderSet },
    { name: "clear", summary: "Restore the configured or automatic order", load: async () => (await import("./models/auth/profiles.ts")).orderClear },
  ],
  examples: [{ line: "openclaw models auth order get --provider anthropic", does: "Which profile is tried first" }],
};

export const auth: Group = {
  entries: [
    { name: "status", summary: "Show stored credentials and their state", load: async () => (await import("./models/auth/status.ts")).status },
    { name: "clear", summary: "Clear cooldowns", load: async () => (await import("./models/auth/status.ts")).clear },
    { name: "add", summary: "Store an API key", load: async () => (await import("./models/auth/profiles.ts")).add },
    { name: "login", summary: "Log in to a provider", load: async () => (await import("./models/auth/login.ts")).login },
    {
      name: "login-github-copilot",
      summary: "Log in to GitHub Copilot with a device code",
      load: async () => (await import("./models/auth/login.ts")).loginGithubCopilot,
    },
    { name: "setup-token", summary: "Store a token made by `claude setup-token`", load: async () => (await import("./models/auth/profiles.ts")).setupToken },
    { name: "paste-token", summary: "Store a token created elsewhere", load: async () => (await import("./models/auth/profiles.ts")).pasteToken },
    { name: "order", summary: "Set which profile is tried first", load: () => Promise.resolve(order) },
  ],
  fallback: "status",
  examples: [{ line: "openclaw models auth status", does: "Stored credentials, masked" }],
};

const fallbacks = async (kind: "model" | "imageModel") => (await import("./models/fallbacks.ts")).fallbackCommands(kind);

export const models: Group = {
  entries: [
    { name: "status", summary: "Show the model in use, why, and its credentials", load: async () => (await import("./models/status.ts")).status },
    { name: "list", summary: "List configured or all known models", load: async () => (await import("./models/list.ts")).list },
    { name: "set", summary: "Set the default model", load: async () => (await import("./models/set.ts")).set },
    { name: "set-image", summary: "Set the image model", load: async () => (await import("./models/set.ts")).setImage },
    { name: "aliases", summary: "Manage model aliases", load: async () => (await import("./models/aliases.ts")).aliases },
    { name: "fallbacks", summary: "Manage fallback models", load: () => fallbacks("model") },
    { name: "image-fallbacks", summary: "Manage fallbacks of the image model", load: () => fallbacks("imageModel") },
    { name: "scan", summary: "Find and test free models at OpenRouter", load: async () => (await import("./models/scan.ts")).scan },
    { name: "budgets", summary: "Show how much of each budget is used", load: async () => (await import("./models/budgets.ts")).budgets },
    { name: "auth", summary: "Manage credentials", load: async () => auth },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw models", does: "Model in use, and why" },
    { line: "openclaw models list --all --provider anthropic", does: "All known models of a provider" },
  ],
};

export const tools: Group = {
  entries: [
    { name: "explain", summary: "Explain why a session has a tool or not", load: async () => (await import("./tools.ts")).explain },
    { name: "list", summary: "List tools and their groups", load: async () => (await import("./tools.ts")).list },
  ],
  fallback: "explain",
  examples: [
    { line: "openclaw tools", does: "Tools of the main session and the rule that applies" },
    { line: "openclaw tools list", does: "List tools" },
  ],
};

export const skills: Group = {
  entries: [
    { name: "list", summary: "List skills and whether they are ready", load: async () => (await import("./skills/show.ts")).list },
    { name: "info", summary: "Show a skill's requirements and location", load: async () => (await import("./skills/show.ts")).info },
    { name: "check", summary: "Show missing requirements and changed files", load: async () => (await import("./skills/show.ts")).check },
    { name: "install", summary: "Install a skill or its programs", load: async () => (await import("./skills/install.ts")).install },
    { name: "update", summary: "Update installed skills", load: async () => (await import("./skills/install.ts")).update },
    { name: "remove", summary: "Delete an installed skill", load: async () => (await import("./skills/install.ts")).remove },
    { name: "create", summary: "Create a skill", load: async () => (await import("./skills/author.ts")).create },
    { name: "test", summary: "Check a skill without running it", load: async () => (await import("./skills/author.ts")).test },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw skills", does: "All skills and whether they are ready" },
    { line: "openclaw skills check", does: "Missing requirements" },
  ],
};

export const sandbox: Group = {
  entries: [
    { name: "explain", summary: "Explain whether a session is sandboxed", load: async () => (await import("./sandbox.ts")).explain },
    { name: "list", summary: "List containers", load: async () => (await import("./sandbox.ts")).list },
    { name: "recreate", summary: "Remove containers; recreated on next use", load: async () => (await import("./sandbox.ts")).recreate },
  ],
  fallback: "explain",
  examples: [{ line: "openclaw sandbox explain", does: "Main session of the default agent" }],
};

export const backup: Group = {
  entries: [
    { name: "create", summary: "Create a backup", load: async () => (await import("./backup/create.ts")).create },
    { name: "verify", summary: "Check a backup against its hashes", load: async () => (await import("./backup/create.ts")).verify },
    { name: "restore", summary: "Restore a backup; existing data is kept", load: async () => (await import("./backup/restore.ts")).restore },
  ],
  examples: [
    { line: "openclaw backup create", does: "Create a backup in the current folder" },
    { line: "openclaw backup verify openclaw-backup-….tar.gz", does: "Check a backup" },
  ],
};

export const hooks: Group = {
  entries: [
    { name: "list", summary: "List hooks and their state", load: async () => (await import("./hooks/show.ts")).list },
    { name: "info", summary: "Show details of a hook", load: async () => (await import("./hooks/show.ts")).info },
    { name: "check", summary: "Show which hooks are ready", load: async () => (await import("./hooks/show.ts")).check },
    { name: "enable", summary: "Enable a hook", load: async () => (await import("./hooks/change.ts")).enable },
    { name: "disable", summary: "Disable a hook", load: async () => (await import("./hooks/change.ts")).disable },
    { name: "install", summary: "Install hooks", load: async () => (await import("./hooks/change.ts")).install },
    { name: "update", summary: "Update hooks from npm", load: async () => (await import("./hooks/change.ts")).update },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw hooks list", does: "All hooks" },
    { line: "openclaw hooks enable session-memory", does: "Save the conversation on /new" },
  ],
};

export const cron: Group = {
  entries: [
    { name: "status", summary: "Show the scheduler and its next run", load: async () => (await import("./cron/show.ts")).status },
    { name: "list", summary: "List jobs with their next and last run", load: async () => (await import("./cron/show.ts")).list },
    { name: "add", summary: "Add a job", load: async () => (await import("./cron/change.ts")).add },
    { name: "create", summary: "Same as add", load: async () => (await import("./cron/change.ts")).add },
    { name: "edit", summary: "Change a job", load: async () => (await import("./cron/change.ts")).edit },
    { name: "enable", summary: "Enable a job", load: async () => (await import("./cron/change.ts")).enable },
    { name: "disable", summary: "Disable a job", load: async () => (await import("./cron/change.ts")).disable },
    { name: "rm", summary: "Remove a job", load: async () => (await import("./cron/change.ts")).remove },
    { name: "remove", summary: "Same as rm", load: async () => (await import("./cron/change.ts")).remove },
    { name: "delete", summary: "Same as rm", load: async () => (await import("./cron/change.ts")).remove },
    { name: "run", summary: "Run a job now", load: async () => (await import("./cron/change.ts")).run },
    { name: "runs", summary: "Show the run history of a job", load: async () => (await import("./cron/show.ts")).runs },
    { name: "next", summary: "Show the next times of a cron expression", load: async () => (await import("./cron/show.ts")).next },
  ],
  examples: [
    { line: "openclaw cron list", does: "All jobs" },
    { line: 'openclaw cron next "0 9 * * 1-5" --tz Europe/Berlin', does: "Next times of a cron expression" },
  ],
};

export const system: Group = {
  entries: [
    { name: "event", summary: "Send an event to the agent", load: async () => (await import("./system.ts")).event },
    { name: "heartbeat", summary: "Show, enable or disable heartbeats", load: async () => (await import("./system.ts")).heartbeat },
    { name: "presence", summary: "List connected clients", load: async () => (await import("./system.ts")).presence },
  ],
  examples: [
    { line: "openclaw system heartbeat last", does: "Result of the last heartbeat" },
    { line: 'openclaw system event --text "The backup has finished" --mode now', does: "Let the agent act on it now" },
  ],
};

const gmail: Group = {
  entries: [
    { name: "setup", summary: "Connect a Gmail mailbox and save the settings", load: async () => (await import("./webhooks/gmail-setup.ts")).setup },
    { name: "run", summary: "Watch the mailbox outside the gateway", load: async () => (await import("./webhooks/gmail-run.ts")).run },
  ],
  examples: [{ line: "openclaw webhooks gmail setup --help", does: "Show the options" }],
};

export const webhooks: Group = {
  entries: [{ name: "gmail", summary: "Gmail", load: () => Promise.resolve(gmail) }],
  examples: [{ line: "openclaw webhooks gmail --help", does: "Show the commands" }],
};

export const memory: Group = {
  entries: [
    { name: "status", summary: "Show the index status", load: async () => (await import("./memory/status.ts")).status },
    { name: "index", summary: "Update or rebuild the index", load: async () => (await import("./memory/status.ts")).index },
    { name: "search", summary: "Search notes and conversations", load: async () => (await import("./memory/search.ts")).search },
    { name: "why", summary: "Search and explain the ranking", load: async () => (await import("./memory/search.ts")).why },
    { name: "eval", summary: "Measure search quality with your own questions", load: async () => (await import("./memory/measure.ts")).evaluate },
    { name: "export", summary: "Export every passage with its source", load: async () => (await import("./memory/measure.ts")).exportAll },
    { name: "forget", summary: "Permanently delete something", load: async () => (await import("./memory/change.ts")).forget },
    { name: "suggest", summary: "Suggest often recalled notes for MEMORY.md", load: async () => (await import("./memory/change.ts")).suggest },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw memory", does: "Index status" },
    { line: 'openclaw memory search "who is our plumber"', does: "Search notes and conversations" },
  ],
};
