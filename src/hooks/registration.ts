/** Only calls that match every list; a list without a value in the call does not match. */
export interface HookFilter {
  readonly tools?: readonly string[];
  readonly channels?: readonly string[];
  readonly agents?: readonly string[];
  readonly triggers?: readonly string[];
  /** `agent` or `acp`, for `reply_dispatch`. */
  readonly dispatchKinds?: readonly string[];
}

/** An author's options for a handler. */
export interface HookOptions {
  /** Higher runs first; equal ones in the order of registration. Default 0. */
  readonly priority?: number;
  /** Milliseconds, 1 to 600000. The operator's settings win. */
  readonly timeoutMs?: number;
  readonly filter?: HookFilter;
  /** Another name for `filter.tools`. */
  readonly matcher?: readonly string[];
  /** Another name for `filter.triggers`. */
  readonly eligibleTriggers?: readonly string[];
  /** Another name for `filter.dispatchKinds`. */
  readonly eligibleDispatchKinds?: readonly string[];
  /** The author's own name of the handler. */
  readonly registrationId?: string;
}
