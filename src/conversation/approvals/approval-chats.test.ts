import { describe, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createLogger } from "../../base/log/logger.ts";
import { systemRandom } from "../../base/random.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { SendRequest } from "../delivery/messages.ts";
import type { ApprovalNotice } from "../../tools/index.ts";
import { createApprovalChats } from "./approval-chats.ts";

const KEY = "agent:main:telegram:direct:7";
const ID = "25e15b1e-0000-4000-8000-000000000000";
const REPLY = { channel: "telegram", accountId: "main", to: "7", chatType: "direct" };
const OPS = { channel: "telegram", to: "99" };

const asked = (over: Record<string, unknown> = {}): ApprovalNotice => ({
  type: "requested",
  id: ID,
  kind: "exec",
  request: { command: "rm -r build", cwd: "/srv", host: "gateway", security: "allowlist", ask: "on-miss", agentId: "main", sessionKey: KEY, ...over },
  createdAt: 0,
  expiresAt: 120_000,
  allowed: ["allow-once", "allow-always", "deny"],
});

const ended = (decision: string, by: string | null, over: Record<string, unknown> = {}): ApprovalNotice =>
  ({ type: "resolved", id: ID, kind: "exec", request: (asked(over) as { request: unknown }).request, decision, by, at: 5 }) as ApprovalNotice;

interface ApprovalsOptions {
  readonly entry?: Record<string, unknown>;
  readonly refuse?: string;
  readonly channels?: Record<string, Record<string, unknown>>;
}

function openApprovals(exec: Record<string, unknown>, { entry, refuse, channels = {} }: ApprovalsOptions = {}) {
  const sent: SendRequest[] = [];
  const actions: unknown[] = [];
  const lines: string[] = [];
  const clock = manualClock(0);
  const row = { key: KEY, agentId: "main", version: 1, entry: { sessionId: "s", updatedAt: 0, ...entry } };
  const chats = createApprovalChats({
    config: { current: { approvals: { exec }, channels } },
    store: { read: (kind: string) => Promise.resolve((kind === "meta.get" ? "key" : row) as never), write: () => Promise.resolve(undefined as never) },
    random: systemRandom,
    clock,
    log: createLogger({
      clock,
      redactor: createRedactor(),
      outputs: [{ level: "warn", sink: { write: ({ message }) => lines.push(message), flush: () => Promise.resolve() } }],
    }),
    defaultAgentId: () => "main",
    messages: () =>
      Promise.resolve({
        action(request) {
          actions.push(request);
          return Promise.resolve({});
        },
        send(request) {
          sent.push(request);
          if (refuse !== undefined) return Promise.reject(new Error(refuse));
          return Promise.resolve({ state: "sent", messageIds: [`m${sent.length}`], rowIds: [], channel: request.channel!, accountId: "main", to: request.to });
        },
      }),
  });
  return { chats, sent, actions, lines, places: () => sent.map(({ channel, to }) => `${channel} ${to}`) };
}

describe("who is asked", () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ["nobody unless it is switched on", {}, []],
    ["nobody when it is switched off", { enabled: false, mode: "targets", targets: [OPS] }, []],
    ["the chat that the question came from", { enabled: true, targets: [OPS] }, ["telegram 7"]],
    ["the targets", { enabled: true, mode: "targets", targets: [OPS] }, ["telegram 99"]],
    [
      "both, each once",
      { enabled: true, mode: "both", targets: [OPS, OPS, { channel: "telegram", to: "7", accountId: "main" }] },
      ["telegram 7", "telegram 99"],
    ],
    ["nobody for another agent", { enabled: true, agentFilter: ["other"] }, []],
    ["someone for this agent", { enabled: true, agentFilter: ["other", "main"] }, ["telegram 7"]],
    ["nobody for another session", { enabled: true, sessionFilter: [":group:"] }, []],
    ["someone for a part of the key", { enabled: true, sessionFilter: [":direct:"] }, ["telegram 7"]],
    ["someone for a pattern of the key", { enabled: true, sessionFilter: ["^agent:(main|work):"] }, ["telegram 7"]],
    ["nobody for what is no pattern", { enabled: true, sessionFilter: ["("] }, []],
  ])("%s", async (_name, exec, expected) => {
    const { chats, places } = openApprovals(exec);
    await chats.notify(asked({ origin: { reply: REPLY } }));
    expect(places()).toEqual(expected);
  });

  test("without the chat of the question, the one where the session was last", async () => {
    const { chats, sent } = openApprovals({ enabled: true }, { entry: { deliveryContext: { channel: "irc", to: "#ops", accountId: "libera", threadId: 4 } } });
    await chats.notify(asked());
    expect(sent).toMatchObject([{ channel: "irc", to: "#ops", accountId: "libera", threadId: 4 }]);
  });

  test("not a session that has no chat, or may not say anything", async () => {
    const page = openApprovals({ enabled: true }, { entry: { deliveryContext: { channel: "webchat", to: "x" } } });
    await page.chats.notify(asked());
    const silent = openApprovals({ enabled: true }, { entry: { sendPolicy: "deny" } });
    await silent.chats.notify(asked({ origin: { reply: REPLY } }));
    expect([...page.places(), ...silent.places()]).toEqual([]);
  });
});

describe("what is said", () => {
  const questionOf = async (over: Record<string, unknown>) => {
    const { chats, sent } = openApprovals({ enabled: true });
    await chats.notify(asked({ origin: { reply: REPLY }, ...over }));
    return sent[0]!;
  };

  test("the command, its facts, until when, and how to decide; with buttons where there are some", async () => {
    const { text, channelData } = await questionOf({});
    expect(text).toBe(
      "Approval needed (id 25e15b1e):\n```\nrm -r build\n```\nFolder: `/srv`\nHost: `gateway`\nAgent: `main`\nSecurity: `allowlist`\nAsk: `on-miss`\nExpires in 120 s.\nReply with: /approve 25e15b1e allow-once|allow-always|deny",
    );
    expect(channelData).toMatchObject({
      telegram: { buttons: [[{ callback_data: expect.stringMatching(/^\/approve 25e15b1e allow-once#[\w-]{11}$/) }, {}, { text: "deny" }]] },
    });
  });

  test("no command ends the block that it stands in", async () => {
    const { text } = await questionOf({ command: "echo '\n````\nApproved.'" });
    expect(text).toContain("`````\necho '\n````\nApproved.'\n`````\n");
  });

  test("no folder is read as a line of ours, and no command as more than a command", async () => {
    const { text } = await questionOf({ cwd: "/srv`\nExpires in 9999 s.\n[ok](https://example.com)" });
    expect(text).toContain("\nFolder: ``/srv` Expires in 9999 s. [ok](https://example.com)``\nHost: ");
    const { chats, sent } = openApprovals({ enabled: true });
    await chats.notify(ended("deny", null, { origin: { reply: REPLY }, command: "`a`\n[b](https://example.com)" }));
    expect(sent[0]!.text).toBe("Approval 25e15b1e denied: `` `a` [b](https://example.com) ``");
  });

  test("a command too long to read in a chat is only mentioned", async () => {
    const { text, channelData } = await questionOf({ command: "x".repeat(8001) });
    expect(text).toContain("8001 characters");
    expect(text).not.toContain("/approve");
    expect(channelData).toBeUndefined();
  });

  test("what is about no command has its title", async () => {
    const { text } = await questionOf({ command: undefined, toolName: "message", title: "Send it?", description: "To a stranger." });
    expect(text).toContain("```\nmessage: Send it?\nTo a stranger.\n```");
  });
});

describe("everyone who was asked is notified about the outcome", () => {
  test.each([
    ["allow-once", "control-ui", "Approval 25e15b1e allowed once (by control-ui): `rm -r build`"],
    ["allow-always", "control-ui", "Approval 25e15b1e always allowed (by control-ui): `rm -r build`"],
    ["deny", "telegram:99", "Approval 25e15b1e denied (by telegram:99): `rm -r build`"],
    ["timeout", null, "Approval 25e15b1e expired without a decision: `rm -r build`"],
    ["cancelled", null, "Approval 25e15b1e cancelled: `rm -r build`"],
  ])("%s by %s", async (decision, by, text) => {
    const { chats, sent } = openApprovals({ enabled: true });
    await chats.notify(asked({ origin: { reply: REPLY } }));
    await chats.notify(ended(decision, by));
    expect(sent.map((one) => one.text).slice(1)).toEqual([text]);
  });

  test("not where it was decided: the answer to the command stands there", async () => {
    const { chats, sent } = openApprovals({ enabled: true, mode: "both", targets: [OPS] });
    await chats.notify(asked({ origin: { reply: REPLY } }));
    await chats.notify(ended("deny", "telegram:7"));
    expect(sent.slice(2).map(({ to }) => to)).toEqual(["99"]);
  });

  test("also when the gateway was restarted in between, by the question itself", async () => {
    const { chats, sent } = openApprovals({ enabled: true });
    await chats.notify(ended("deny", "restart", { origin: { reply: REPLY } }));
    expect(sent).toMatchObject([{ to: "7", text: "Approval 25e15b1e denied (the gateway was restarted): `rm -r build`" }]);
  });

  test("a chat that cannot be reached is logged, and the others are asked", async () => {
    const { chats, sent, lines } = openApprovals({ enabled: true, mode: "both", targets: [OPS] }, { refuse: "there is no channel" });
    await chats.notify(asked({ origin: { reply: REPLY } }));
    expect(sent).toHaveLength(2);
    expect(lines).toEqual(Array.from({ length: 2 }, () => "an approval request could not be sent to a chat: there is no channel"));
  });

  test("the same question is the same message, however often it is sent", async () => {
    const { chats, sent } = openApprovals({ enabled: true });
    await chats.notify(asked({ origin: { reply: REPLY } }));
    await chats.notify(asked({ origin: { reply: REPLY } }));
    expect(new Set(sent.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });
});

describe("approvers whom a channel names", () => {
  const rules = (more: Record<string, unknown>) => ({ channels: { discord: { execApprovals: { enabled: true, approvers: ["1", "<@2>"], ...more } } } });
  const THERE = { channel: "discord", accountId: "default", to: "channel:5", chatType: "channel" };

  test.each<[string, Record<string, unknown>, string[]]>([
    ["are asked in private", {}, ["discord user:1", "discord user:2"]],
    ["are not asked when it is off", { enabled: false }, []],
    ["are asked in the chat that it is about", { target: "channel" }, ["discord channel:5"]],
    ["are asked in both", { target: "both" }, ["discord user:1", "discord user:2", "discord channel:5"]],
    ["are not asked about another agent", { agentFilter: ["other"] }, []],
    ["are not asked about another session", { sessionFilter: [":group:"] }, []],
  ])("%s", async (_title, more, places) => {
    const home = openApprovals({}, rules(more));
    await home.chats.notify(asked({ origin: { reply: THERE } }));
    expect(home.places()).toEqual(places);
    for (const { channelData } of home.sent) expect(JSON.stringify(channelData?.["discord"])).toContain("/approve 25e15b1e allow-once");
  });

  test("see the outcome, or the question goes away", async () => {
    const shown = openApprovals({}, rules({}));
    await shown.chats.notify(asked());
    await shown.chats.notify(ended("deny", "telegram:7"));
    expect(shown.sent.slice(2).map(({ text }) => text)).toEqual([expect.stringContaining("denied"), expect.stringContaining("denied")]);
    const cleaned = openApprovals({}, rules({ cleanupAfterResolve: true }));
    await cleaned.chats.notify(asked());
    await cleaned.chats.notify(ended("deny", "telegram:7"));
    expect(cleaned.sent).toHaveLength(2);
    expect(cleaned.actions).toEqual([
      { action: "delete", channel: "discord", params: { to: "user:1", messageId: "m1" } },
      { action: "delete", channel: "discord", params: { to: "user:2", messageId: "m2" } },
    ]);
  });
});
