import { AppError } from "../../base/errors.ts";
import type { Handlers, CallContext } from "./handler.ts";
import { compactSession, deleteSession, resetSession, restoreSession, type EndingDeps } from "./sessions/endings.ts";
import { listSessions, previewSessions, resolveSession } from "./sessions/find.ts";
import { patchSession } from "./sessions/patch.ts";

/** Pages that only chat may not change how sessions are kept. */
function refuseWebchat({ caller }: CallContext, doing: "patch" | "delete" | "restore"): void {
  if (caller.client.mode === "webchat") {
    throw new AppError("INVALID_INPUT", `webchat clients cannot ${doing} sessions; use chat.send for session-scoped updates`);
  }
}

/** Finding, changing and ending sessions. */
export function sessionsHandlers(deps: EndingDeps) {
  return {
    "sessions.list": (params) => listSessions(params, deps),
    "sessions.preview": (params) => previewSessions(params, deps),
    "sessions.resolve": (params) => resolveSession(params, deps),
    "sessions.patch": (params, context) => {
      refuseWebchat(context, "patch");
      return patchSession(params, { ...deps, scopes: [...context.caller.scopes] });
    },
    "sessions.reset": (params) => resetSession(params, deps),
    "sessions.delete": (params, context) => {
      refuseWebchat(context, "delete");
      // What the gateway tidies away by itself, such as sessions of sub-agents, nobody brings back.
      return deleteSession(params, deps, context.caller.isOwn !== true);
    },
    "sessions.restore": (params, context) => {
      refuseWebchat(context, "restore");
      return restoreSession(params, deps);
    },
    "sessions.compact": (params, { signal }) => compactSession(params, deps, signal),
  } satisfies Handlers;
}
