import { isRecord } from "../base/records.ts";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../base/clock.ts";
import { AppError } from "../base/errors.ts";
import { createLazyImaging } from "../imaging/index.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { systemRandom } from "../base/random.ts";
import { createRedactor, type Redactor } from "../base/redaction.ts";
import { createChannels, ownersBy, type IsOwner } from "../channels/index.ts";
import type { Config, Env } from "../config/index.ts";
import type { ChannelInboundEvent, ChannelPlugin } from "../protocol/index.ts";
import type { OutboxRow, Store } from "../store/index.ts";
import { loadAnswering, type OpenConversation } from "../app/index.ts";
import { lazyDocuments } from "../media/index.ts";
import { createFileVersions, createMemory } from "../memory/index.ts";
import type { Plugins, RunningPlugins } from "../plugins/index.ts";
import { createScriptedModel } from "./model.ts";
import type { TestHost, TestMessage, TestReply } from "./types.ts";
import { createLazyVoice } from "../voice/index.ts";

export interface TestTalkDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly env: Env;
  readonly version: string;
  readonly workspaceDir: string;
  readonly plugins: RunningPlugins;
}

/** Conversations of a test: real ones, with a model that follows a script. */
export interface TestTalk extends Pick<TestHost, "script" | "receive" | "idle" | "replies" | "modelCalls" | "approvals"> {
  readonly conversation: OpenConversation;
  /** Starts the accounts of the plugins' channels. */
  start(): Promise<void>;
}

const POLL_MS = 5;

/** A channel that no plugin brought: what is sent over it is kept by the host. */
function fakeChannel(id: string): ChannelPlugin {
  let count = 0;
  const sent = async (): Promise<{ channel: string; messageId: string }> => ({ channel: id, messageId: `${id}-${(count += 1)}` });
  return {
    id,
    meta: { id, label: id, selectionLabel: id, docsPath: "", blurb: "" },
    capabilities: { chatTypes: ["direct", "group"] },
    config: { listAccountIds: () => ["default"], resolveAccount: () => ({}) },
    outbound: { deliveryMode: "direct", textChunkLimit: 4000, sendText: sent, sendMedia: sent },
  };
}

/** The plugins' registries, with channels that no plugin brought beside theirs. */
function pluginsPort(running: RunningPlugins, fakes: ReadonlyMap<string, ChannelPlugin>): Plugins {
  const { registries } = running.host;
  const channels = {
    get: (id: string) => registries.channels.get(id) ?? (fakes.has(id) ? { value: { plugin: fakes.get(id) } } : undefined),
    list: () => registries.channels.list(),
  };
  const shown = { ...registries, channels };
  const { hooks, agent, host } = running;
  const settled = (): undefined => undefined;
  return {
    hooks: () => hooks,
    agent: () => agent,
    registries: () => shown,
    onChange: () => {},
    providers: () => [],
    settled,
    missingGuards: host.missingGuards,
  } as unknown as Plugins;
}

function eventOf({ from, text, id, group, to, mentioned = true }: TestMessage, newId: () => string): ChannelInboundEvent {
  return {
    kind: "message",
    id: id ?? newId(),
    chat: group === undefined ? { type: "direct", id: from } : { type: "group", id: group },
    sender: { id: from, name: from },
    text,
    to: to ?? group ?? from,
    ...(group === undefined ? {} : { mention: { mentioned, canDetect: true } }),
  };
}

function replyOf({ channel, account, target, payload }: OutboxRow): TestReply {
  const sent = isRecord(payload) ? payload : {};
  const field = (name: string): string | undefined => (typeof sent[name] === "string" ? sent[name] : undefined);
  const mediaUrl = field("mediaUrl");
  return {
    channel,
    accountId: account,
    to: target,
    text: field("text") ?? "",
    kind: field("kind") ?? "final",
    ...(mediaUrl === undefined ? {} : { mediaUrl }),
  };
}

interface AnsweringDeps {
  readonly redactor: Redactor;
  readonly plugins: Plugins;
  readonly models: ReturnType<typeof createScriptedModel>["models"];
}

/** The agent and the conversations of a real gateway. */
async function openAnswering({ config, store, clock, ids, log, env, version, workspaceDir }: TestTalkDeps, deps: AnsweringDeps, stack: AsyncDisposableStack) {
  const { redactor, plugins, models } = deps;
  const { createLazyAgent, openConversation } = await loadAnswering();
  const core = {
    config,
    currentConfig: () => config.current,
    store,
    clock,
    ids,
    log,
    env,
    version,
    random: systemRandom,
    redactor,
    documents: lazyDocuments(clock),
    workspaceOf: () => workspaceDir,
    fileVersions: createFileVersions({ clock, ids, log, stateDir: config.paths.state }),
    defaultAgentId: () => "main",
    runnable: (text: string) => text,
    requestRestart: () => ({ ok: false, reason: "a test host does not restart", delayMs: 0, coalesced: false }),
  };
  const memory = stack.use(createMemory({ config, store, clock, log, home: config.paths.home, workspaceOf: core.workspaceOf }));
  const auth = async () => (await models.models()).auth("main");
  const voice = createLazyVoice({ config, clock, ids, log, auth, summarise: async ({ text, maxChars }) => text.slice(0, maxChars) });
  const imaging = createLazyImaging({ config, clock, ids, log, auth });
  const isOwner: IsOwner = (sender) => ownersBy(core.currentConfig, talk.channels)(sender);
  const agent = stack.use(createLazyAgent({ core, models, memory, voice, imaging, plugins, notify: () => {}, announce: () => {}, isOwner }));
  const talk = openConversation({ core, models, plugins, handlers: () => undefined, agents: agent.agents, agent: agent.open, voice }, stack);
  return { agent, talk };
}

export async function openTestTalk(deps: TestTalkDeps, stack: AsyncDisposableStack): Promise<TestTalk> {
  const { config, store, clock, ids, log } = deps;
  const redactor = createRedactor();
  const fakes = new Map<string, ChannelPlugin>();
  const plugins = pluginsPort(deps.plugins, fakes);
  const model = createScriptedModel(clock);
  const { agent, talk } = await openAnswering(deps, { redactor, plugins, models: model.models }, stack);
  await talk.allowLists.load();
  await talk.conversation.resume();
  const manager = createChannels({
    config: () => config.current,
    table: talk.channels,
    inbound: talk.conversation.inbound,
    clock,
    random: systemRandom,
    log,
    redactor,
    activity: talk.activity,
    onChange: () => talk.delivery.kick(),
  });
  stack.use(manager);
  const replies: TestReply[] = [];
  talk.delivery.onSettled((row) => void (row.state === "sent" && replies.push(replyOf(row))));

  /** Nothing is under way in memory, and on disk nothing waits for its first attempt. */
  async function isIdle(): Promise<boolean> {
    if (talk.conversation.running() > 0 || talk.delivery.open() > 0) return false;
    const { pending, attempting } = await store.read("outbox.counts", {});
    return pending + attempting === 0;
  }

  /** Resolves when the message and what is said about it are at their end. */
  async function ended(channel: string, messageId: string) {
    for (;;) {
      const row = (await store.read("inbox.recent", {})).find((one) => one.channel === channel && one.messageId === messageId);
      if (row?.state === "settled" && (await isIdle())) return row;
      await pause(POLL_MS);
    }
  }

  const approvals: TestHost["approvals"] = {
    async next() {
      const { approvals: asked } = await agent.open();
      for (;;) {
        const [found] = await asked.list();
        if (found) return { id: found.id, kind: found.kind, request: found.request };
        await pause(POLL_MS);
      }
    },
    answer: async (id, decision) => (await agent.open()).approvals.resolve(id, decision, "test"),
  };

  return {
    conversation: talk,
    approvals,
    start: () => manager.start(),
    async idle() {
      while (!(await isIdle())) await pause(POLL_MS);
    },
    script: (answers) => model.add(answers),
    modelCalls: () => [...model.calls],
    replies: () => [...replies],
    async receive(message) {
      const { channel, from, accountId = "default", isAllowed = true } = message;
      if (typeof channel !== "string" || channel === "") throw new AppError("INVALID_INPUT", "host.receive: a message needs a channel");
      if (!talk.channels.get(channel)) fakes.set(channel, fakeChannel(channel));
      if (isAllowed) await talk.pairing.allow({ channel, accountId, senderId: from });
      const event = eventOf(message, () => ids.uuid());
      const before = replies.length;
      const result = await talk.conversation.inbound(channel, accountId).accept(event);
      if (result.outcome !== "accepted") return { outcome: result.outcome, why: "why" in result ? result.why : "", replies: replies.slice(before) };
      const row = await ended(channel, event.id);
      return { outcome: row.outcome ?? "", why: row.why ?? "", replies: replies.slice(before) };
    },
  };
}
