/** What the gateway needs from rooms above it, or from rooms that are not built yet. `app` fills these. */

/** One run, asked for by a client or an HTTP caller. */
export interface RunRequest {
  /** The caller's idempotency key. */
  readonly runId: string;
  /** Canonical: `agent:<id>:…`. */
  readonly sessionKey: string;
  readonly message: string;
  /** Where it came in: `webchat`, `api`, … */
  readonly channel: string;
  readonly systemPrompt?: string;
  readonly timeoutMs?: number;
}

export type RunEvent =
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "start"; readonly startedAt: number } }
  | {
      readonly stream: "lifecycle";
      readonly data: { readonly phase: "end"; readonly endedAt: number; readonly startedAt?: number; readonly aborted?: boolean };
    }
  | { readonly stream: "lifecycle"; readonly data: { readonly phase: "error"; readonly error: string; readonly endedAt: number; readonly startedAt?: number } }
  /** `text` is cumulative. */
  | { readonly stream: "assistant"; readonly data: { readonly text: string; readonly delta: string } };

/** How a run ended. It is on disk before this is told. */
export type RunOutcome =
  | { readonly status: "ok"; readonly text: string; readonly sessionId: string; readonly durationMs: number }
  | { readonly status: "aborted"; readonly text: string; readonly sessionId: string; readonly durationMs: number }
  | { readonly status: "error"; readonly error: string };

export interface AcceptedRun {
  readonly runId: string;
  /** The same run was accepted before: nothing new was started. */
  readonly duplicate: boolean;
  /** Of a duplicate that has ended. */
  readonly ended?: RunOutcome;
}

/** Takes messages, runs them, and streams what happens. */
export interface Responder {
  /** Resolves when the message is on disk. A repeated `runId` with the same message is the same run; with another one `CONFLICT`. */
  accept(request: RunRequest): Promise<AcceptedRun>;
  /** Resolves when a run has ended; undefined when none of that id is known. */
  outcome(runId: string, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Ends runs: all of a session, or one. Gives the ids of those it reached. */
  abort(target: { readonly sessionKey: string; readonly runId?: string }, reason: "rpc" | "stop" | "timeout"): readonly string[];
  /** Told everything that happens in any run, in order. */
  onEvent(listener: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void): Disposable;
}
