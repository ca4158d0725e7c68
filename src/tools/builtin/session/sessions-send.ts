import { defineTool } from "../../declaration.ts";
import { failedOutcome, jsonOutcome } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";
import { failure, findTarget, forbidden, refusal, shownKey } from "./visibility.ts";

/** How a message to another session ended, as far as it was waited for. */
export type SessionReply =
  | { readonly status: "ok"; readonly reply: string }
  | { readonly status: "accepted" }
  | { readonly status: "timeout" }
  | { readonly status: "error"; readonly error: string };

/** Puts a message at the head of another session's lane. */
export interface SessionPost {
  /** Resolves with the answer, or when the time is over; 0 waits for nothing but its acceptance. */
  send(message: {
    readonly runId: string;
    readonly to: { readonly key: string; readonly agentId: string };
    readonly from: { readonly key: string; readonly agentId: string; readonly channel: string | undefined };
    readonly text: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<SessionReply>;
}

export interface SessionSendDeps extends SessionToolsDeps {
  /** Without it the tool is not offered. */
  readonly post?: SessionPost | undefined;
}

const DEFAULT_SECONDS = 30;
const MAX_SECONDS = 3600;
const MAX_LABEL = 64;
const UNNAMED = "Set sessionKey, or the label of an existing session; sessions_list shows both.";

/** Writes to another session and waits for its answer. */
export const sessionsSendTool = defineTool<SessionSendDeps>({
  name: "sessions_send",
  groups: ["sessions", "openclaw"],
  reach: { outbound: true },
  promptLine: "write to another session",
  icon: "📨",
  profiles: ["messaging"],
  inSandbox: "allowed",
  subagents: "never",
  overHttp: "if-named",
  label: "Session Send",
  description: "Send a message into another session, named by its key, its id or its label, and wait for the answer there.",
  parameters: {
    type: "object",
    properties: {
      message: { type: "string", description: "Message to send" },
      sessionKey: { type: "string", description: "Key or id from sessions_list, or main" },
      label: { type: "string", maxLength: MAX_LABEL, description: "Label of the session, instead of its key" },
      agentId: { type: "string", description: "The agent whose session has the label" },
      timeoutSeconds: { type: "number", minimum: 0, description: `How long to wait for the answer (default ${DEFAULT_SECONDS}, 0: not at all)` },
    },
    required: ["message"],
  },
  // The run's id is made of the call: after a crash the same call is the same message.
  idempotent: true,
  isOffered: ({ post }) => post !== undefined,
  run:
    (deps) =>
    async ({ id, params, context, signal }) => {
      if (!deps.post) return failure("Messages to sessions are not available here.");
      const text = typeof params["message"] === "string" ? params["message"].trim() : "";
      if (text === "") return failedOutcome("message required");
      const { written, byLabel } = await namedSession(deps, params, context.agentId);
      if (written === undefined) return failure(UNNAMED);
      const target = await findTarget(deps, context, written);
      if (!target) return failure(`"${written.slice(0, 200)}" is not a session key; sessions_list shows the keys.`);
      const why = await refusal(deps, context, target);
      // A label that may not be used is answered like one that nobody has: labels of others cannot be guessed.
      if (why !== undefined) return byLabel ? failure(UNNAMED) : forbidden(why);
      if (target.key === context.sessionKey) return failure("That is this session: put the message into your answer instead.");
      const seconds = Number(params["timeoutSeconds"] ?? DEFAULT_SECONDS);
      const timeoutMs = Math.min(MAX_SECONDS, Math.max(0, Number.isFinite(seconds) ? seconds : DEFAULT_SECONDS)) * 1000;
      const runId = `send-${context.runId}-${id}`;
      const from = { key: context.sessionKey, agentId: context.agentId, channel: context.channel };
      const reply = await deps.post.send({ runId, to: { key: target.key, agentId: target.agentId }, from, text, timeoutMs, signal });
      const shown = {
        runId,
        sessionKey: shownKey(target.key),
        ...reply,
        ...(reply.status === "error" ? {} : { delivery: { status: "pending", mode: "announce" } }),
      };
      return reply.status === "error" ? { ...jsonOutcome(shown), isError: true } : jsonOutcome(shown);
    },
});

interface Named {
  /** Undefined when nothing is named, or nothing has the label. */
  readonly written: string | undefined;
  readonly byLabel: boolean;
}

async function namedSession({ store }: SessionToolsDeps, params: Readonly<Record<string, unknown>>, agentId: string): Promise<Named> {
  const text = (name: string): string => (typeof params[name] === "string" ? params[name].trim() : "");
  const key = text("sessionKey");
  if (key !== "") return { written: key, byLabel: false };
  const label = text("label");
  if (label === "" || label.length > MAX_LABEL) return { written: undefined, byLabel: true };
  const [found] = await store.read("sessions.byLabel", { label, agentId: (text("agentId") || agentId).toLowerCase() });
  return { written: found?.key, byLabel: true };
}
