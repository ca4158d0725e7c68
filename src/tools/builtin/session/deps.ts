import type { Clock } from "../../../base/clock.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { ThinkingLevel } from "../../../protocol/index.ts";
import type { Store } from "../../../store/index.ts";

/** What a session's model is. */
export interface SessionModel {
  /** `provider/model`. */
  readonly ref: string;
  /** Why this one, in words. */
  readonly why?: string;
  /** Level when nobody chose one. */
  readonly thinking?: ThinkingLevel;
  /** Tokens. */
  readonly contextWindow?: number;
  /** How it is paid for: `api-key`, `oauth (…)`; never a secret. */
  readonly auth?: string;
}

/** What the session tools need of the models module. */
export interface SessionModels {
  describe(session: {
    readonly agentId: string;
    readonly override: { readonly providerOverride?: string; readonly modelOverride: string } | undefined;
  }): Promise<SessionModel>;
  /**
   * Chooses the model of a session from its next run on: a reference or an alias, or `default` to follow the configuration again. Gives the
   * reference that is in effect. Throws `INVALID_INPUT` with words for the model when it may not be used.
   */
  setModel(sessionKey: string, ref: string): Promise<string>;
}

export interface SessionToolsDeps {
  readonly store: Pick<Store, "read">;
  readonly config: () => OpenClawConfig;
  readonly clock: Clock;
  readonly stateDir: string;
  readonly version: string;
  readonly models: SessionModels;
  readonly isSandboxed: (session: { readonly agentId: string; readonly sessionKey: string }) => boolean;
  /** Masks secrets in what other sessions said. */
  readonly redact: (text: string) => string;
}
