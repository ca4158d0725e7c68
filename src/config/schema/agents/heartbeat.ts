import { advanced, amount, flag, group, text } from "../pieces.ts";

export const heartbeat = group("Turns that an agent runs by itself at fixed times.", {
  every: text("Time between two heartbeats, such as 30m; a bare number counts minutes, 0m turns them off."),
  activeHours: group("Only run between these hours.", {
    start: text("First minute of the day, HH:MM."),
    end: text("Last minute of the day, HH:MM; 24:00 is midnight."),
    timezone: text("user, local or an IANA time zone."),
  }),
  model: text("Model for heartbeats, as provider/model."),
  isolated: flag("Run them outside the main session, with HEARTBEAT.md and what is pending only: a beat costs little however long the conversation is."),
  session: text("Session that heartbeats run in; main by default."),
  includeReasoning: flag("Deliver the model's reasoning as well.", advanced),
  target: text("Where the answer goes: last, none or a channel id."),
  to: text("Recipient on the target channel."),
  accountId: text("Account of the target channel to send from."),
  prompt: text("Text that replaces the built-in heartbeat prompt."),
  ackMaxChars: amount("Longest text beside HEARTBEAT_OK that still counts as nothing to report.", advanced),
  suppressToolErrorWarnings: flag("Do not deliver warnings about failed tools.", advanced),
});
