import { Type } from "typebox";
import { advanced, flag, group, ids, map, whole } from "./pieces.ts";

const automatic = (description: string) => Type.Union([Type.Boolean(), Type.Literal("auto")], { description, default: "auto" });

export const commands = group(
  "Commands that people type in chats.",
  {
    native: automatic("Register them with the platforms; auto does where it works well."),
    nativeSkills: automatic("Register skills as commands as well."),
    text: flag("Understand commands written as plain text."),
    bash: flag("Allow /bash."),
    bashForegroundMs: whole("How long /bash waits before a command goes to the background.", { minimum: 0, maximum: 30_000, ...advanced }),
    config: flag("Allow /config."),
    debug: flag("Allow /debug."),
    restart: flag("Allow /restart and restarts by signal.", { default: true }),
    useAccessGroups: flag("Only people on an allowlist may use commands."),
    ownerAllowFrom: ids("Who counts as owner."),
    allowFrom: map("Who may use commands, by channel or *; replaces all other checks.", ids("Senders.")),
  },
  [],
  { default: { native: "auto", nativeSkills: "auto", restart: true } },
);
