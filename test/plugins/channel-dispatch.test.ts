/** Plugins that gate and route by themselves and take the replies by themselves, on the real conversation. */
import { expect, test } from "vitest";
import { createTestHost, type TestHost } from "../../src/plugin-testing/index.ts";
import type { OpenClawPluginApi } from "../../src/plugins/sdk/types/index.ts";
import type { MsgContext, ReplyDispatcherOptions, ReplyPayload } from "../../src/protocol/index.ts";

type Runtime = OpenClawPluginApi["runtime"];

interface Place {
  readonly host: TestHost;
  readonly runtime: Runtime;
  /** What went out over the channel's own adapter. */
  readonly sent: string[];
}

const META = { id: "old", label: "Old", selectionLabel: "Old", docsPath: "/channels/old", blurb: "" };

/** A channel of the older kind, and the runtime that its plugin was given. */
async function openPlace(config: object = {}, more: (api: OpenClawPluginApi) => void = () => {}): Promise<Place & AsyncDisposable> {
  let runtime: Runtime | undefined;
  const sent: string[] = [];
  const host = await createTestHost({
    config: { ...config },
    plugins: [
      {
        id: "old",
        manifest: { channels: ["old"] },
        register(api: OpenClawPluginApi) {
          runtime = api.runtime;
          api.registerChannel({
            plugin: {
              id: "old",
              meta: META,
              capabilities: { chatTypes: ["direct", "group"] },
              config: { listAccountIds: () => ["default"], resolveAccount: () => ({}) },
              outbound: {
                deliveryMode: "direct",
                textChunkLimit: 4000,
                sendText: async ({ to, text }) => {
                  sent.push(`${to}: ${text}`);
                  return { channel: "old", messageId: `m${sent.length}` };
                },
              },
            },
          });
          more(api);
        },
      },
    ],
  });
  return { host, runtime: runtime!, sent, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

let next = 0;

function context({ runtime }: Place, text: string, over: MsgContext = {}): MsgContext {
  next += 1;
  const route = runtime.channel.routing.resolveAgentRoute({ cfg: runtime.config.loadConfig(), channel: "old", peer: { kind: "direct", id: "ada" } });
  return runtime.channel.reply.finalizeInboundContext({
    Body: `[Old ada] ${text}`,
    RawBody: text,
    CommandBody: text,
    From: "old:ada",
    To: "old:chat-1",
    SessionKey: route.sessionKey,
    AccountId: route.accountId,
    ChatType: "direct",
    Provider: "old",
    Surface: "old",
    SenderId: "ada",
    MessageSid: `in-${next}`,
    OriginatingChannel: "old",
    OriginatingTo: "chat-1",
    CommandAuthorized: true,
    ...over,
  });
}

interface Heard {
  readonly events: string[];
  readonly options: ReplyDispatcherOptions;
}

function listener(deliver: (payload: ReplyPayload) => Promise<void> | void = () => {}): Heard {
  const events: string[] = [];
  return {
    events,
    options: {
      async deliver(payload, { kind }) {
        events.push(`${kind}: ${payload.text}`);
        await deliver(payload);
      },
      onReplyStart: () => void events.push("start"),
      onIdle: () => void events.push("idle"),
      onError: (error, { kind }) => void events.push(`error ${kind}: ${(error as Error).message}`),
      onSkip: (_payload, { reason }) => void events.push(`skip ${reason}`),
    },
  };
}

const dispatch = (place: Place, ctx: MsgContext, { options }: Heard, replyOptions = {}) =>
  place.runtime.channel.reply.dispatchReplyWithBufferedBlockDispatcher({
    ctx,
    cfg: place.runtime.config.loadConfig(),
    dispatcherOptions: options,
    replyOptions,
  });

test("the reply is handed to the plugin that received the message, and stands in inbox and outbox like any other", async () => {
  await using place = await openPlace();
  place.host.script(["hello Ada"]);
  const heard = listener();
  expect(await dispatch(place, context(place, "hello"), heard)).toEqual({ queuedFinal: true, counts: { tool: 0, block: 0, final: 1 } });
  expect(heard.events).toEqual(["start", "final: hello Ada", "idle"]);
  await place.host.idle();
  expect(place.host.replies()).toMatchObject([{ channel: "old", to: "chat-1", text: "hello Ada", kind: "final" }]);
  expect(place.sent).toEqual([]);
  expect(JSON.stringify(place.host.modelCalls()[0]?.messages)).toContain("hello");
});

test("a message that is dispatched again is not answered again", async () => {
  await using place = await openPlace();
  place.host.script(["once"]);
  const ctx = context(place, "hello");
  await dispatch(place, ctx, listener());
  expect(await dispatch(place, ctx, listener())).toEqual({ queuedFinal: false, counts: { tool: 0, block: 0, final: 0 } });
  expect(place.host.modelCalls()).toHaveLength(1);
});

test("what the plugin cannot deliver goes out over its channel", async () => {
  await using place = await openPlace();
  place.host.script(["important"]);
  const heard = listener(() => {
    throw Object.assign(new Error("no line"), { code: "ECONNREFUSED" });
  });
  expect(await dispatch(place, context(place, "hello"), heard)).toMatchObject({ queuedFinal: true });
  expect(heard.events).toEqual(["start", "final: important", "error final: no line", "idle"]);
  while (place.sent.length === 0) await place.host.advance(5000);
  await place.host.idle();
  expect(place.sent).toEqual(["chat-1: important"]);
});

test("commands are answered through it, silence is reported, and rights come with the message", async () => {
  await using place = await openPlace({}, (api) => api.registerCommand({ name: "hi", description: "Hi.", handler: () => ({ text: "hi there" }) }));
  const heard = listener();
  expect(await dispatch(place, context(place, "/hi"), heard)).toMatchObject({ queuedFinal: true });
  expect(heard.events).toEqual(["final: hi there", "idle"]);
  place.host.script(["NO_REPLY"]);
  const silent = listener();
  expect(await dispatch(place, context(place, "never mind"), silent)).toMatchObject({ queuedFinal: false });
  expect(silent.events).toContain("skip silent");
  const stranger = listener();
  await dispatch(place, context(place, "/hi", { CommandAuthorized: false }), stranger);
  expect(stranger.events.join()).not.toContain("hi there");
});

test("what happens in the turn is reported while it happens, and the plugin can stop it", async () => {
  await using place = await openPlace({}, (api) =>
    api.registerTool({
      name: "look",
      description: "",
      parameters: { type: "object" },
      execute: async () => ({ content: [{ type: "text", text: "a tree" }], details: {} }),
    }),
  );
  place.host.script([{ text: "Let me see.", tools: [{ name: "look" }] }, "A tree."]);
  const events: string[] = [];
  const heard = listener((payload) => void events.push(`out ${payload.text}`));
  await dispatch(place, context(place, "look"), heard, {
    onPartialReply: ({ text }: ReplyPayload) => void events.push(`partial ${text}`),
    onToolStart: ({ name }: { name?: string }) => void events.push(`tool ${name}`),
    onModelSelected: ({ provider, model }: { provider: string; model: string }) => void events.push(`${provider}/${model}`),
  });
  expect(events).toEqual(["partial Let me see.", "tool look", "partial A tree.", "test/script", "out Let me see.", "out A tree."]);
  const abort = new AbortController();
  abort.abort();
  place.host.script(["too late"]);
  const stopped = listener();
  expect(await dispatch(place, context(place, "stop that"), stopped, { abortSignal: abort.signal })).toMatchObject({ queuedFinal: false });
});

test("a dispatcher with typing serves dispatchReplyFromConfig; what it is sent itself is shaped and paced", async () => {
  await using place = await openPlace();
  const heard = listener();
  const { reply } = place.runtime.channel;
  const { dispatcher, replyOptions, markDispatchIdle } = reply.createReplyDispatcherWithTyping({
    ...heard.options,
    responsePrefix: "[{model}]",
    responsePrefixContextProvider: () => ({ model: "m" }),
  });
  place.host.script(["hello"]);
  const ctx = context(place, "hi");
  expect(await reply.dispatchReplyFromConfig({ ctx, cfg: {}, dispatcher, replyOptions })).toMatchObject({ queuedFinal: true });
  expect([
    dispatcher.sendFinalReply({ text: " NO_REPLY " }),
    dispatcher.sendFinalReply({ text: "HEARTBEAT_OK" }),
    dispatcher.sendToolResult({ text: "" }),
  ]).toEqual([false, false, false]);
  expect(dispatcher.sendBlockReply({ text: "more" })).toBe(true);
  await dispatcher.waitForIdle();
  markDispatchIdle();
  expect(heard.events).toEqual(["start", "final: [m] hello", "skip silent", "skip heartbeat", "skip empty", "block: [m] more", "idle"]);
});

test("a resolver that answers in the agent's place does so without it", async () => {
  await using place = await openPlace();
  const heard = listener();
  const asked = { ctx: context(place, "hi"), cfg: {}, dispatcherOptions: heard.options, replyResolver: async () => [{ text: "one" }, { text: "two" }] };
  expect(await place.runtime.channel.reply.dispatchReplyWithBufferedBlockDispatcher(asked)).toMatchObject({ counts: { final: 2 } });
  expect(heard.events).toEqual(["final: one", "final: two", "idle"]);
  expect(place.host.modelCalls()).toEqual([]);
});

test("routes follow the bindings, and sessions the scope that is asked for", async () => {
  await using place = await openPlace({
    agents: { list: [{ id: "main" }, { id: "work" }] },
    bindings: [{ agentId: "work", match: { channel: "old", peer: { kind: "group", id: "g1" } } }],
  });
  const { resolveAgentRoute, buildAgentSessionKey } = place.runtime.channel.routing;
  const cfg = place.runtime.config.loadConfig();
  expect(resolveAgentRoute({ cfg, channel: "old", accountId: null, peer: { kind: "group", id: "g1" } })).toEqual({
    agentId: "work",
    channel: "old",
    accountId: "default",
    sessionKey: "agent:work:old:group:g1",
    mainSessionKey: "agent:work:main",
    matchedBy: "binding.peer",
  });
  expect(resolveAgentRoute({ cfg, channel: "old", peer: { kind: "dm" as never, id: "ada" } })).toMatchObject({
    agentId: "main",
    sessionKey: "agent:main:main",
    matchedBy: "default",
  });
  expect(buildAgentSessionKey?.({ agentId: "main", channel: "old", peer: { kind: "direct", id: "ada" }, dmScope: "per-channel-peer" })).toBe(
    "agent:main:old:direct:ada",
  );
});

test("pairing is per account: codes, lists, and who waits already", async () => {
  await using place = await openPlace();
  const { readAllowFromStore, upsertPairingRequest } = place.runtime.channel.pairing;
  const first = await upsertPairingRequest({ channel: "old", id: " eve ", accountId: "one", meta: { name: "Eve" } });
  expect(first).toMatchObject({ created: true, code: expect.stringMatching(/^[A-Z2-9]{8}$/) });
  expect(await upsertPairingRequest({ channel: "old", id: "eve", accountId: "one" })).toEqual({ code: first.code, created: false });
  expect((await upsertPairingRequest({ channel: "old", id: "eve", accountId: "two" })).created).toBe(true);
  await place.host.receive({ channel: "old", accountId: "one", from: "ada", text: "/stop" });
  expect([await readAllowFromStore("old", undefined, "one"), await readAllowFromStore("old", undefined, "two"), await readAllowFromStore("old")]).toEqual([
    ["ada"],
    [],
    [],
  ]);
});

test("the steps of channel.inbound: read, look, decide, note the session, dispatch, tell how it ended", async () => {
  await using place = await openPlace();
  const inbound = (place.runtime.channel as unknown as { inbound: Record<string, (params: object) => Promise<object>> }).inbound;
  const events: unknown[] = [];
  const ctxPayload = (await inbound["buildContext"]!({
    channel: "old",
    messageId: "x1",
    from: "old:ada",
    sender: { id: "ada", name: "Ada" },
    conversation: { kind: "group", id: "g1", label: "Friends" },
    route: { agentId: "main", routeSessionKey: "agent:main:old:group:g1" },
    reply: { to: "g1" },
    message: { rawBody: "hello all", body: "hello all" },
    access: { mentions: { wasMentioned: true }, commands: { authorized: true } },
  })) as MsgContext;
  expect(ctxPayload).toMatchObject({
    BodyForAgent: "hello all",
    ChatType: "group",
    OriginatingTo: "g1",
    SenderName: "Ada",
    CommandAuthorized: true,
    WasMentioned: true,
  });
  place.host.script(["hello group", "prepared"]);
  const adapter = {
    ingest: (raw: { text: string }) => ({ id: "x1", rawText: raw.text }),
    resolveTurn: () => ({ channel: "old", ctxPayload, delivery: { deliver: (payload: ReplyPayload) => void events.push(payload.text) } }),
    onFinalize: (outcome: { dispatched: boolean }) => void events.push(outcome.dispatched),
  };
  expect(await inbound["run"]!({ channel: "old", raw: { text: "hello all" }, adapter })).toMatchObject({
    admission: { kind: "dispatch" },
    dispatched: true,
    routeSessionKey: "agent:main:old:group:g1",
    dispatchResult: { queuedFinal: true },
  });
  expect(
    await inbound["run"]!({ channel: "old", raw: {}, adapter: { ...adapter, preflight: () => ({ admission: { kind: "drop", reason: "echo" } }) } }),
  ).toEqual({
    admission: { kind: "drop", reason: "echo" },
    dispatched: false,
  });
  expect(events).toEqual(["hello group", true, false]);
  const runDispatch = async () => ({ queuedFinal: false, counts: { tool: 0, block: 0, final: 0 } });
  expect(await inbound["runPreparedReply"]!({ channel: "old", routeSessionKey: "agent:main:old:group:g1", ctxPayload, runDispatch })).toMatchObject({
    dispatched: true,
  });
  const loadAdapter = (place.runtime.channel as unknown as { outbound: { loadAdapter(id: string): Promise<object> } }).outbound.loadAdapter;
  expect(await loadAdapter("old")).toMatchObject({ deliveryMode: "direct" });
});

test("a message that cannot be one is refused with what is missing", async () => {
  await using place = await openPlace();
  const bad: MsgContext = { Body: "x" };
  await expect(dispatch(place, bad, listener())).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("channel") });
  await expect(dispatch(place, { Body: "x", Provider: "old" }, listener())).rejects.toMatchObject({ code: "INVALID_INPUT" });
});
