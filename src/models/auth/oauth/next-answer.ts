import { AppError } from "../../../base/errors.ts";
import { failureOf } from "../../failure.ts";
import { post, type OAuthDeps, type TokenAnswer } from "./token-request.ts";

/** Attempts that may fail to reach the server in a row. */
const UNREACHED = 5;

export interface Polling {
  readonly url: string;
  readonly body: Readonly<Record<string, string>>;
  readonly expiresAt: number;
  /** Said when nobody used the code in time. */
  readonly expired: string;
  readonly deps: OAuthDeps & { readonly pause: (ms: number) => Promise<void> };
}

/** Asks a server again and again whether the user has confirmed a code; a server that cannot be reached for a moment is asked again. */
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
