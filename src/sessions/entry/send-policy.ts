import type { OpenClawConfig } from "../../config/index.ts";
import type { SessionEntry } from "../../protocol/index.ts";

/** Whether answers of a session may be sent, and what decided it. */
export interface SendDecision {
  readonly allowed: boolean;
  readonly source: "session" | "rule" | "default";
  /** Place in `session.sendPolicy.rules`. */
  readonly rule?: number;
}

/** `dm` is an older word for `direct`, in a beginning of a key, too. */
const withDirect = (prefix: string): string => prefix.toLowerCase().replace(/(^|:)dm(?=:|$)/, "$1direct");

function chatTypeOf(key: string, entry: SessionEntry | undefined): string {
  const { chatType } = entry ?? {};
  if (chatType === "dm") return "direct";
  if (chatType === "room") return "channel";
  if (chatType !== undefined) return chatType;
  return /:group:/.test(key) ? "group" : /:channel:/.test(key) ? "channel" : "direct";
}

/** The session's own setting, then the rules, of which any `deny` wins, then the default. `channel` counts when the entry has none. */
export function sendPolicy(config: OpenClawConfig, key: string, entry: SessionEntry | undefined, channel?: string): SendDecision {
  const own = entry?.["sendPolicy"];
  if (own === "allow" || own === "deny") return { allowed: own === "allow", source: "session" };
  const { sendPolicy: policy } = config.session ?? {};
  const chatType = chatTypeOf(key, entry);
  const from = (entry?.channel ?? channel)?.toLowerCase();
  const bare = key.replace(/^agent:[^:]+:/, "");
  const matching = (policy?.rules ?? []).flatMap(({ action, match = {} }, rule) => {
    const type = match.chatType === "dm" ? "direct" : match.chatType;
    const matches =
      (match.channel === undefined || match.channel.toLowerCase() === from) &&
      (type === undefined || type === chatType) &&
      (match.keyPrefix === undefined || bare.startsWith(withDirect(match.keyPrefix))) &&
      (match.rawKeyPrefix === undefined || key.startsWith(withDirect(match.rawKeyPrefix)));
    return matches ? [{ action, rule }] : [];
  });
  const deciding = matching.find(({ action }) => action === "deny") ?? matching[0];
  if (deciding) return { allowed: deciding.action === "allow", source: "rule", rule: deciding.rule };
  return { allowed: policy?.default !== "deny", source: "default" };
}
