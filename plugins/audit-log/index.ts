import { createHash } from "node:crypto";
import { join } from "node:path";
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { openJournal } from "./journal.ts";

/** Tells two texts apart without keeping either. */
function fingerprint(text: string | undefined): { readonly chars: number; readonly sha256: string } | undefined {
  if (text === undefined) return undefined;
  return { chars: text.length, sha256: createHash("sha256").update(text).digest("hex").slice(0, 16) };
}

/** Names of parameters, never their values: those may be secrets. */
const parameterNames = (params: Readonly<Record<string, unknown>> | undefined): readonly string[] => Object.keys(params ?? {}).sort();

export default definePluginEntry({
  id: "audit-log",
  name: "Audit log",
  description: "Logs which tools ran and which messages were sent and received, without their content.",
  register(api) {
    const { maxBytes = 10_000_000, keep = 5 } = (api.pluginConfig ?? {}) as { readonly maxBytes?: number; readonly keep?: number };
    const journal = openJournal(join(api.runtime.state.resolveStateDir(), "audit-log"), { maxBytes, keep });
    api.lifecycle?.onDispose?.(() => journal.flush());
    const write = (kind: string, facts: Readonly<Record<string, unknown>>): Promise<void> => journal.write({ time: new Date().toISOString(), kind, ...facts });

    api.on("after_tool_call", ({ toolName, params, error, durationMs, runId }, { agentId, sessionKey }) =>
      write("tool", { tool: toolName, parameters: parameterNames(params), ok: error === undefined, durationMs, runId, agentId, sessionKey }),
    );
    api.on("message_received", ({ content, messageId }, { channelId, accountId, senderId, sessionKey }) =>
      write("received", { channelId, accountId, senderId, sessionKey, messageId, content: fingerprint(content) }),
    );
    api.on("message_sent", ({ to, content, success }, { channelId, accountId, sessionKey }) =>
      write("sent", { channelId, accountId, to, sessionKey, ok: success, content: fingerprint(content) }),
    );
    api.on("session_start", ({ sessionId, resumedFrom }, { agentId, sessionKey }) => write("session started", { sessionId, resumedFrom, agentId, sessionKey }));
    api.on("session_end", ({ sessionId, messageCount, reason }, { agentId, sessionKey }) =>
      write("session ended", { sessionId, messageCount, reason, agentId, sessionKey }),
    );
  },
});
