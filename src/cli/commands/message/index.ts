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
    entry("send", "send a text or a file"),
    { name: "broadcast", summary: "send the same to many", load: async () => (await import("./action.ts")).broadcast },
    { name: "resend", summary: "send again what could not be delivered", load: async () => (await import("./resend.ts")).resend },
    entry("poll", "ask with options"),
    entry("react", "react to a message"),
    entry("reactions", "who reacted to a message, and how"),
    entry("read", "the latest messages of a chat"),
    entry("edit", "change a message of ours"),
    entry("delete", "delete a message"),
    entry("pin", "pin a message"),
    entry("unpin", "unpin a message"),
    entry("pins", "the pinned messages"),
    entry("permissions", "what we may do in a chat"),
    entry("search", "look for messages"),
    group("thread", "threads of a chat", [
      ["create", "begin a thread"],
      ["list", "the threads of a server"],
      ["reply", "write into a thread"],
    ]),
    group("emoji", "emoji of a server", [
      ["list", "the emoji there are"],
      ["upload", "add one"],
    ]),
    group("sticker", "stickers", [
      ["send", "send one"],
      ["upload", "add one"],
    ]),
    group("role", "roles on a server", [
      ["info", "the roles there are"],
      ["add", "give a role"],
      ["remove", "take a role away"],
    ]),
    group("channel", "channels of a server", [
      ["info", "about one"],
      ["list", "all of them"],
    ]),
    group("member", "people on a server", [["info", "about one"]]),
    group("voice", "who speaks where", [["status", "where a person is"]]),
    group("event", "events of a server", [
      ["list", "the events there are"],
      ["create", "announce one"],
    ]),
    entry("timeout", "mute a member for a while"),
    entry("kick", "remove a member"),
    entry("ban", "ban a member"),
  ],
  examples: [{ line: `openclaw message send --channel telegram --target 123456 -m "hello" --dry-run`, does: "what would be sent to whom" }],
};
