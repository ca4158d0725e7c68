import { AppError } from "../../../base/errors.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import type { Store } from "../../../store/index.ts";
import { kindOf } from "./keys.ts";

/** Whether a session may be written to: its own setting, then the rules, of which any `deny` wins, then the default. */
function maySend(config: OpenClawConfig, key: string, entry: SessionEntry | undefined, channel: string): boolean {
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

export interface SendPolicyDeps {
  readonly config: { readonly current: OpenClawConfig };
  readonly store: Pick<Store, "read">;
}

/** Refuses what is sent to a session that may not be written to. To be asked wherever a message comes in, with the channel it comes by. */
export async function checkSendPolicy(sessionKey: string, channel: string, { config, store }: SendPolicyDeps): Promise<void> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!maySend(config.current, sessionKey, session?.entry, channel)) throw new AppError("INVALID_INPUT", "send blocked by session policy");
}
