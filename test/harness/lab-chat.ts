/** Talking with a gateway of the lab as WebChat does, and what its model was asked. */
import { expect } from "vitest";
import type { LabGateway } from "../conformance/channels/lab-gateway.ts";
import type { LabCalls, ModelRequest } from "../conformance/channels/lab-model.ts";

export const PATIENCE = { timeout: 20_000, interval: 20 };

export const isTask = ({ user }: ModelRequest): boolean => user.includes("[Subagent Task]:");
export const isReport = ({ user }: ModelRequest): boolean => user.includes("[System Message]");

/** What the model is shown of the tool that it called last; undefined when it did not call one. */
export function lastResult({ body }: ModelRequest): Readonly<Record<string, unknown>> | undefined {
  const { messages } = JSON.parse(body) as { messages: readonly { role: string; content: string }[] };
  const last = messages.at(-1);
  if (last?.role !== "tool") return undefined;
  return last.content.startsWith("{") ? (JSON.parse(last.content) as Record<string, unknown>) : { text: last.content };
}

export const using = (name: string, args: object): LabCalls => ({ text: "", calls: [{ name, args }] });

export const spawning = (task: string, more: object = {}): LabCalls => using("sessions_spawn", { task, ...more });

interface Shown {
  readonly role: string;
  readonly content: readonly { readonly text?: string }[];
}

export interface LabChat {
  call<T>(method: string, params: object): Promise<T>;
  say(sessionKey: string, message: string): Promise<void>;
  answers(sessionKey: string): Promise<readonly string[]>;
  lastAnswer(sessionKey: string): Promise<string>;
  /** Says something and gives the answer to it. */
  answered(sessionKey: string, message: string): Promise<string>;
  /** Requests whose newest message has this in it. */
  asked(word: string): readonly ModelRequest[];
  /** What sessions were shown of ended sub-agents. */
  reports(word: string): readonly string[];
}

export function labChat(gateway: () => LabGateway): LabChat {
  let sent = 0;
  async function call<T>(method: string, params: object): Promise<T> {
    const { ok, payload, error } = await gateway().operator.request(method, params);
    expect({ ok, error }).toMatchObject({ ok: true });
    return payload as T;
  }
  async function say(sessionKey: string, message: string): Promise<void> {
    await call("chat.send", { sessionKey, message, idempotencyKey: `say-${(sent += 1)}` });
  }
  async function answers(sessionKey: string): Promise<readonly string[]> {
    const { messages } = await call<{ messages: readonly Shown[] }>("chat.history", { sessionKey });
    return messages.filter(({ role }) => role === "assistant").map(({ content }) => content.map(({ text = "" }) => text).join(""));
  }
  const lastAnswer = async (sessionKey: string): Promise<string> => (await answers(sessionKey)).at(-1) ?? "";
  const asked = (word: string): readonly ModelRequest[] => gateway().model.requests.filter(({ user }) => user.includes(word));
  return {
    call,
    say,
    answers,
    lastAnswer,
    asked,
    async answered(sessionKey, message) {
      const before = (await answers(sessionKey)).length;
      await say(sessionKey, message);
      await expect.poll(async () => (await answers(sessionKey)).length, PATIENCE).toBeGreaterThan(before);
      return lastAnswer(sessionKey);
    },
    reports: (word) =>
      asked(word)
        .filter(isReport)
        .map(({ user }) => user),
  };
}
