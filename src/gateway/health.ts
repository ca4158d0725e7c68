/** `starting`: not ready yet; `ok`: everything works; `degraded`: it works, but needs attention; `failed`: nothing is acknowledged any more. */
export type HealthState = "starting" | "ok" | "degraded" | "failed";

/** What `/health` and `openclaw status` show. */
export interface HealthReport {
  readonly ok: boolean;
  readonly status: HealthState;
  readonly version: string;
  readonly pid: number;
  /** ISO time. */
  readonly startedAt: string;
  readonly uptimeMs: number;
  /** One sentence per thing that needs attention. */
  readonly problems: readonly string[];
  readonly config: {
    readonly path: string;
    /** Where the running configuration came from. */
    readonly source: "file" | "last-good" | "defaults";
    readonly issues: readonly string[];
  };
  readonly store: Readonly<Record<string, unknown>>;
}

/** True when messages are accepted and stored. */
export const isReady = ({ ok, status }: HealthReport): boolean => ok && (status === "ok" || status === "degraded");
