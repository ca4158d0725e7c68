import { defineTool } from "../../declaration.ts";
import { failedOutcome, jsonOutcome } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";
import { readHistory } from "./shown-messages.ts";
import { failure, findTarget, forbidden, refusal, shownKey } from "./visibility.ts";

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1000;

/** What was said in a session. */
export const sessionsHistoryTool = defineTool<SessionToolsDeps>({
  name: "sessions_history",
  groups: ["sessions", "openclaw"],
  reach: { reads: "private" },
  promptLine: "read the messages of another session",
  icon: "🧾",
  profiles: ["messaging"],
  inSandbox: "allowed",
  subagents: "not-deepest",
  label: "Session History",
  description: "Read the messages of a session, newest last. Results of tools are left out unless includeTools is true; long texts are cut.",
  parameters: {
    type: "object",
    properties: {
      sessionKey: { type: "string", description: "Key or id from sessions_list, or main" },
      limit: { type: "number", minimum: 1, description: `Maximum number of messages (default ${DEFAULT_LIMIT})` },
      includeTools: { type: "boolean" },
    },
    required: ["sessionKey"],
  },
  idempotent: true,
  executionMode: "parallel",
  run:
    (deps) =>
    async ({ params, context }) => {
      const written = typeof params["sessionKey"] === "string" ? params["sessionKey"].trim() : "";
      if (written === "") return failedOutcome("sessionKey required");
      const target = await findTarget(deps, context, written);
      if (!target) return failure(`"${written.slice(0, 200)}" is not a session key; sessions_list shows the keys.`);
      const why = await refusal(deps, context, target);
      if (why !== undefined) return forbidden(why);
      if (!target.row) return failure(`There is no session ${shownKey(target.key)}; sessions_list shows the keys.`);
      const asked = Number(params["limit"] ?? DEFAULT_LIMIT);
      const limit = Math.min(MAX_LIMIT, Math.max(1, Number.isFinite(asked) ? Math.floor(asked) : DEFAULT_LIMIT));
      const history = await readHistory(deps.store, target.row, { limit, includeTools: params["includeTools"] === true, redact: deps.redact });
      const { messages, droppedMessages, contentTruncated, bytes } = history;
      const truncated = droppedMessages || contentTruncated;
      return jsonOutcome({ sessionKey: shownKey(target.key), messages, truncated, droppedMessages, contentTruncated, bytes });
    },
});
