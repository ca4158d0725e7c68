import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import { kindOf } from "./keys.ts";

/** Whether a session may be written to: its own setting, then the rules, of which any `deny` wins, then the default. */
export function maySend(config: OpenClawConfig, key: string, entry: SessionEntry | undefined, channel: string): boolean {
  const own = entry?.["sendPolicy"];
  if (own === "allow" || own === "deny") return own === "allow";
  const { sendPolicy } = config.session ?? {};
  const chatType = entry?.chatType ?? kindOf(key);
  const withoutAgent = key.replace(/^agent:[^:]+:/, "");
  const matching = (sendPolicy?.rules ?? []).filter(({ match = {} }) => {
    const type = match.chatType === "dm" ? "direct" : match.chatType;
    return (
      (match.channel === undefined || match.channel === (entry?.channel ?? channel)) &&
      (type === undefined || type === chatType) &&
      (match.keyPrefix === undefined || withoutAgent.startsWith(match.keyPrefix.toLowerCase())) &&
      (match.rawKeyPrefix === undefined || key.startsWith(match.rawKeyPrefix.toLowerCase()))
    );
  });
  if (matching.some((rule) => rule.action === "deny")) return false;
  return matching.length > 0 || sendPolicy?.default !== "deny";
}
