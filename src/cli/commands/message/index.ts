import type { Command, Entry, Group } from "../../command.ts";

async function load(name: string): Promise<Command> {
  const [{ actionCommand }, { actionOf }] = await Promise.all([import("./action.ts"), import("./actions.ts")]);
  return actionCommand(actionOf(name));
}

const entry = (name: string, summary: string, key = name): Entry => ({ name, summary, load: () => load(key) });

/** Actions that share their first word. */
function group(word: string, summary: string, entries: readonly (readonly [string, string])[]): Entry {
  const below = entries.map(([name, does]) => entry(name, does, `${word} ${name}`));
  return { name: word, summary, load: () => Promise.resolve({ entries: below, examples: [] }) };
}

export const message: Group = {
  entries: [
    entry("send", "Send a text or a file"),
    { name: "broadcast", summary: "Send a message to several chats", load: async () => (await import("./action.ts")).broadcast },
    { name: "resend", summary: "Resend a failed delivery", load: async () => (await import("./resend.ts")).resend },
    entry("poll", "Send a poll"),
    entry("react", "React to a message"),
    entry("reactions", "List reactions to a message"),
    entry("read", "Read the latest messages of a chat"),
    entry("edit", "Edit one of our messages"),
    entry("delete", "Delete a message"),
    entry("pin", "Pin a message"),
    entry("unpin", "Unpin a message"),
    entry("pins", "List pinned messages"),
    entry("permissions", "Show our permissions in a chat"),
    entry("search", "Search messages"),
    group("thread", "Manage threads", [
      ["create", "Create a thread"],
      ["list", "List threads"],
      ["reply", "Reply in a thread"],
    ]),
    group("emoji", "Manage emoji", [
      ["list", "List emoji"],
      ["upload", "Upload one"],
    ]),
    group("sticker", "Stickers", [
      ["send", "Send one"],
      ["upload", "Upload one"],
    ]),
    group("role", "Manage roles", [
      ["info", "List roles"],
      ["add", "Add a role to a member"],
      ["remove", "Remove a role from a member"],
    ]),
    group("channel", "Show channels", [
      ["info", "Show details"],
      ["list", "List channels"],
    ]),
    group("member", "Show members", [["info", "Show details"]]),
    group("voice", "Voice status", [["status", "Show a member's voice channel"]]),
    group("event", "Manage events", [
      ["list", "List events"],
      ["create", "Create an event"],
    ]),
    entry("timeout", "Time out a member"),
    entry("kick", "Kick a member"),
    entry("ban", "Ban a member"),
  ],
  examples: [{ line: `openclaw message send --channel telegram --target 123456 -m "hello" --dry-run`, does: "Show what would be sent" }],
};
