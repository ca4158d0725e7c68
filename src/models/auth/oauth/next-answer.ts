import { AppError } from "../../../base/errors.ts";
import { failureOf } from "../../failure.ts";
import { post, type OAuthDeps, type TokenAnswer } from "./token-request.ts";

/** Failed attempts in a row to reach the server. */
const UNREACHED = 5;

export interface Polling {
  readonly url: string;
  readonly body: Readonly<Record<string, string>>;
  readonly expiresAt: number;
  /** Message when nobody used the code in time. */
  readonly expired: string;
  readonly deps: OAuthDeps & { readonly pause: (ms: number) => Promise<void> };
}

/** Polls a server until the user has confirmed a code; short outages are retried. */
export function createNextAnswer({ url, body, expiresAt, expired, deps }: Polling): (pauseMs: number) => Promise<TokenAnswer> {
  return async (pauseMs) => {
    for (let unreached = 0; ;) {
      if (deps.signal?.aborted) throw new AppError("CANCELLED", "the login was cancelled");
      if (deps.clock.now() >= expiresAt) throw new AppError("TIMEOUT", expired);
      await deps.pause(pauseMs);
      try {
        return await post(url, body, "form", deps);
      } catch (error) {
        unreached += 1;
        if (!failureOf(error) || unreached > UNREACHED) throw error;
      }
    }
  };
}
