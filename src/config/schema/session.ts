import { advanced, choice, count, flag, group, map, text, textOrNumber, texts, whole } from "./pieces.ts";
import { accessRules, typingMode } from "./parts.ts";

const reset = (description: string) =>
  group(description, {
    mode: choice("At an hour of the day or after silence.", ["daily", "idle"]),
    atHour: whole("Hour of the day, in the gateway's time.", { minimum: 0, maximum: 23 }),
    idleMinutes: count("Minutes of silence."),
  });

export const session = group("How conversations are separated and when they reset.", {
  scope: choice("One session per sender or one for all.", ["per-sender", "global"]),
  dmScope: choice("Which direct chats share a session.", ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]),
  identityLinks: map("People with several accounts: name to channel:peer list.", texts("Their accounts.")),
  resetTriggers: texts("Messages that begin a new session."),
  idleMinutes: count("Older form of reset with mode idle.", advanced),
  reset: reset("When a session resets."),
  resetByType: group("The same by kind of chat.", {
    direct: reset("Direct chats."),
    dm: reset("Older word for direct."),
    group: reset("Groups."),
    thread: reset("Threads."),
  }),
  resetByChannel: map("The same by channel; replaces the others.", reset("One channel.")),
  store: text("File of the list of sessions that is written for other programs; {agentId} is filled in.", advanced),
  typingIntervalSeconds: count("Seconds between two typing signals.", advanced),
  typingMode: typingMode("When the typing signal starts."),
  mainKey: text("Ignored: the main session is always called main.", advanced),
  sendPolicy: accessRules("Sessions that may send replies; any deny wins."),
  agentToAgent: group("Conversations between agents.", {
    maxPingPongTurns: whole("Answers back and forth.", { minimum: 0, maximum: 5 }),
  }),
  titles: group("How new conversations are named.", {
    enabled: flag("Ask the model below. Default: true."),
    model: text("A cheap model that names a conversation after its first answer. Without it, the first words are the name."),
  }),
  maintenance: group("Keeps the session index small.", {
    mode: choice("Only warn, or clean up.", ["enforce", "warn"]),
    pruneAfter: textOrNumber("Sessions unused for this long are removed; a bare number counts days."),
    pruneDays: count("Older form of pruneAfter.", advanced),
    maxEntries: count("Sessions kept."),
    rotateBytes: textOrNumber("Index files above this size are rotated, such as 10mb."),
  }),
});
