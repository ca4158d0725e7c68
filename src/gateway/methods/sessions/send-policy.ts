import { AppError } from "../../../base/errors.ts";
import { isControlCommandMessage } from "../../../channels/index.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import { sendPolicy } from "../../../sessions/index.ts";
import type { Store } from "../../../store/index.ts";

export interface SendPolicyDeps {
  readonly config: { readonly current: OpenClawConfig };
  readonly store: Pick<Store, "read">;
}

/**
 * Refuses what is sent to a session that may not be written to. To be asked wherever a message comes in, with the channel it comes by. Gives what is known of
 * the session. A message that is a command passes, as it does on channels: whoever silenced a session can let it speak again.
 */
export async function checkSendPolicy(sessionKey: string, channel: string, { config, store }: SendPolicyDeps, message = ""): Promise<SessionEntry | undefined> {
  const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
  if (isControlCommandMessage(message, config.current)) return entry;
  if (!sendPolicy(config.current, sessionKey, entry, channel).allowed) throw new AppError("INVALID_INPUT", "send blocked by session policy");
  return entry;
}
