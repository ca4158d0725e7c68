import { isRecord } from "../../base/records.ts";
import type { EventPayload } from "../../protocol/index.ts";

type ShownRequest = EventPayload<"exec.approval.requested">["request"];

/** As much of a question as is shown. Commands of the agent are never longer: what cannot be read whole is not asked about. */
export const SHOWN_REQUEST_CHARS = 100_000;

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** What is shown of a question: the documented facts and nothing else. Those that are about no command are shown by their title. */
export function shownRequest(asked: unknown): ShownRequest {
  const facts = isRecord(asked) ? asked : {};
  const fact = (name: Exclude<keyof ShownRequest, "command">): string | null => textOf(facts[name]);
  const titled = [textOf(facts["title"]), textOf(facts["description"])].filter((text) => text !== null).join("\n");
  const named = textOf(facts["toolName"]);
  const command = textOf(facts["command"]) ?? ([named, titled].filter(Boolean).join(": ") || "(not specified)");
  return {
    command: command.length > SHOWN_REQUEST_CHARS ? `${command.slice(0, SHOWN_REQUEST_CHARS)}…` : command,
    cwd: fact("cwd"),
    environment: fact("environment"),
    host: fact("host"),
    nodeId: fact("nodeId"),
    security: fact("security"),
    ask: fact("ask"),
    agentId: fact("agentId"),
    resolvedPath: fact("resolvedPath"),
    sessionKey: fact("sessionKey"),
    always: fact("always"),
  };
}
