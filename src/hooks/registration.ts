/** Only calls that fit every list given; a list that the call says nothing about does not fit. */
export interface HookFilter {
  readonly tools?: readonly string[];
  readonly channels?: readonly string[];
  readonly agents?: readonly string[];
  readonly triggers?: readonly string[];
  /** `agent` or `acp`, for `reply_dispatch`. */
  readonly dispatchKinds?: readonly string[];
}

/** What an author says about a handler. */
export interface HookOptions {
  /** Higher runs first; the same keeps the order of registration. 0 when missing. */
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
