/** Which program speaks for Signal. */
import { asChannelError } from "openclaw/plugin-sdk/channel-kit";
import type { SignalAccount } from "./account.ts";
import type { SignalApi } from "./api.ts";
import { createContainer } from "./container.ts";
import { createNative } from "./native.ts";

export interface SignalClient {
  /** The form that was found before, or is found now. */
  get(signal?: AbortSignal): Promise<SignalApi>;
  /** Looks again. */
  detect(signal?: AbortSignal): Promise<SignalApi>;
  close(): void;
}

/** `apiMode: auto` asks the daemon first, then the container. */
export function createClient(account: SignalAccount): SignalClient {
  const forms = { native: createNative(account), container: createContainer(account) };
  let found: Promise<SignalApi> | undefined;

  async function look(signal: AbortSignal | undefined): Promise<SignalApi> {
    if (account.apiMode !== "auto") return forms[account.apiMode];
    if (account.program) return forms.native;
    try {
      await forms.native.check(signal);
      return forms.native;
    } catch (error) {
      // It answers, and knows nothing of the daemon's paths.
      if (asChannelError(error)?.status === undefined) throw error;
      await forms.container.check(signal).catch(() => {
        throw error;
      });
      return forms.container;
    }
  }
  function detect(signal?: AbortSignal): Promise<SignalApi> {
    const looking = look(signal);
    found = looking;
    looking.catch(() => {
      if (found === looking) found = undefined;
    });
    return looking;
  }
  return {
    detect,
    get: (signal) => found ?? detect(signal),
    close() {
      forms.native.close();
      forms.container.close();
    },
  };
}
