import { amount, choice, count, group, map } from "../pieces.ts";

const queueMode = (description: string) => choice(description, ["steer", "followup", "collect", "steer-backlog", "steer+backlog", "queue", "interrupt"]);

export const queue = group("What happens to messages that come while the agent works.", {
  mode: queueMode("collect answers them together afterwards, steer hands them to the running turn."),
  byChannel: group("Mode by channel.", {
    whatsapp: queueMode("On WhatsApp."),
    telegram: queueMode("On Telegram."),
    discord: queueMode("On Discord."),
    irc: queueMode("On IRC."),
    slack: queueMode("On Slack."),
    mattermost: queueMode("On Mattermost."),
    signal: queueMode("On Signal."),
    imessage: queueMode("On iMessage."),
    msteams: queueMode("On Microsoft Teams."),
    webchat: queueMode("On WebChat."),
  }),
  debounceMs: amount("Wait for this many quiet milliseconds before answering."),
  debounceMsByChannel: map("The same by channel.", amount("Milliseconds.")),
  cap: count("Messages kept waiting."),
  drop: choice("What gives way when more come.", ["old", "new", "summarize"]),
});

export const inbound = group("Joins messages that one sender writes in quick succession.", {
  debounceMs: amount("Wait for this many quiet milliseconds; 0 is off."),
  byChannel: map("The same by channel.", amount("Milliseconds.")),
});
