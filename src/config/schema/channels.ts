import { Type, type Static } from "typebox";
import { choice, flag, group } from "./pieces.ts";

const defaults = group("Defaults for every channel.", {
  groupPolicy: choice("Which groups are answered.", ["open", "disabled", "allowlist"]),
  heartbeat: group("What heartbeats show.", {
    showOk: flag("Also when there is nothing to report."),
    showAlerts: flag("When there is something to report."),
    useIndicator: flag("As a sign in the Control UI."),
  }),
});

/** A channel's own keys come from its plugin, so only their being an object is said here. */
export const channels = Type.Unsafe<{ defaults?: Static<typeof defaults> } & { [id: string]: Record<string, unknown> }>({
  type: "object",
  description: "Chat platforms by id; a section switches its channel on.",
  properties: { defaults },
  additionalProperties: { type: "object", description: "One channel.", additionalProperties: true },
});
