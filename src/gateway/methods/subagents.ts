import type { Subagents } from "../../automation/index.ts";
import type { HandlersOf } from "./handler.ts";

/** Sub-agents, as the methods need them. */
export type SubagentsPort = Pick<Subagents, "overview" | "killChild" | "steerChild">;

/** Work that agents hand to others. */
export function subagentsHandlers({ overview, killChild, steerChild }: SubagentsPort): HandlersOf<"subagents"> {
  return {
    "subagents.list": (asked) => overview(asked),
    "subagents.kill": async ({ sessionKey }) => ({ ok: true, killed: await killChild(sessionKey) }),
    "subagents.steer": async ({ sessionKey, message, idempotencyKey }) => ({ ok: true, ...(await steerChild(sessionKey, message, idempotencyKey)) }),
  };
}
