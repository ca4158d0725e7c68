import type { UiHint } from "../validate/hints.ts";

/** The areas of the configuration as forms show them: what one looks for first comes first. */
const AREAS: readonly (readonly [group: string, keys: readonly string[]])[] = [
  ["Answering", ["agents", "models", "auth", "memory", "skills", "tools", "usage"]],
  ["Conversations", ["channels", "messages", "session", "commands", "bindings", "broadcast", "audio", "media", "talk", "approvals"]],
  ["Automation", ["cron", "hooks", "browser", "web", "nodeHost", "canvasHost", "plugins"]],
  ["Gateway", ["gateway", "security", "store", "env", "logging", "diagnostics", "update", "discovery", "ui"]],
];
const STEP = 10;

/** Where forms show what plugins bring: after our own areas. */
export const BROUGHT: Readonly<Record<"channels" | "plugins", Required<Pick<UiHint, "group" | "order">>>> = {
  channels: { group: "Channels", order: 1000 },
  plugins: { group: "Plugins", order: 2000 },
};

/** Group and place of a key at the top of the configuration. */
export function areaOf(key: string): Required<Pick<UiHint, "group" | "order">> {
  const at = AREAS.flatMap(([group, keys]) => keys.map((name) => ({ group, name })));
  const index = at.findIndex(({ name }) => name === key);
  return index < 0 ? { group: "Other", order: 9000 } : { group: at[index]!.group, order: (index + 1) * STEP };
}
