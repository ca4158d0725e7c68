import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadHttp } from "../../base/builtin.ts";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createChannelActivity } from "../../channels/index.ts";
import { openConfig } from "../../config/index.ts";
import { openStore } from "../../store/index.ts";
import { PENDING } from "./pending.ts";
import type { RuntimePorts } from "./ports.ts";
import { createPluginRuntime } from "./runtime.ts";
import { createStateDatabases } from "./state/databases.ts";

async function setup(text = "{}", over: Partial<RuntimePorts> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "plugin-runtime-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "openclaw.json");
  writeFileSync(file, text);
  const clock = manualClock();
  const ids = createIds(seededRandom(5));
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, PATH: "/usr/bin:/bin", NODE_OPTIONS: "--inspect" };
  const config = await openConfig({ env, osHome: folder, cwd: folder, version: "2026.2.19", purpose: "start", clock, ids });
  onTestFinished(() => config[Symbol.dispose]());
  const store = await openStore({ stateDir: folder, clock });
  onTestFinished(() => store[Symbol.asyncDispose]());
  const databases = createStateDatabases(folder);
  onTestFinished(() => databases[Symbol.dispose]());
  const events: unknown[] = [];
  const ports: RuntimePorts = {
    version: "1.2.3",
    config,
    store,
    clock,
    ids,
    log: silentLogger,
    verbose: () => false,
    queueSystemEvent: async (event) => void events.push(event),
    wake: (request) => void events.push({ wake: request }),
    canonicalKey: (written) => (written.startsWith("agent:") ? written.toLowerCase() : `agent:main:${written.toLowerCase()}`),
    agentOf: () => "main",
    activity: createChannelActivity(clock),
    databases,
    ...over,
  };
  return { ports, folder, file, clock, store, events, runtime: createPluginRuntime(ports, { id: "sample" }) };
}

describe("the tree", () => {
  test("lists its parts as plain keys, and every member is there", async () => {
    const { runtime } = await setup();
    expect(Object.keys(runtime)).toEqual(expect.arrayContaining(["version", "config", "system", "media", "tts", "tools", "channel", "logging", "state"]));
    expect(Object.keys(runtime.channel)).toEqual(
      expect.arrayContaining([
        "text",
        "reply",
        "routing",
        "pairing",
        "media",
        "activity",
        "session",
        "mentions",
        "reactions",
        "groups",
        "debounce",
        "commands",
        "discord",
        "slack",
        "telegram",
        "signal",
        "imessage",
        "whatsapp",
        "line",
      ]),
    );
    expect({ ...runtime }.version).toBe("1.2.3");
    const { chunkText } = runtime.channel.text;
    expect(chunkText("a b", 1)).toEqual(["a", "b"]);
  });

  test("a member whose module is missing names it", async () => {
    const { runtime } = await setup();
    expect(() => runtime.channel.routing.resolveAgentRoute({ cfg: {}, channel: "irc" })).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: expect.stringContaining('"routing"') }),
    );
    await expect(runtime.channel.telegram.sendMessageTelegram("1", "x")).rejects.toMatchObject({
      code: "UNAVAILABLE",
      details: { path: "channel.telegram.sendMessageTelegram" },
    });
  });

  test("queues of a channel's own say that they are not there yet, and what keeps messages in their place", async () => {
    const { runtime } = await setup();
    const words = { code: "UNAVAILABLE", message: expect.stringMatching(/is not there yet.*ctx\.inbound\.accept/) };
    expect(() => runtime.state.openChannelIngressQueue?.({})).toThrow(expect.objectContaining(words));
    expect(() => runtime.state.openChannelIngressDrain?.({})).toThrow(expect.objectContaining(words));
    const { ingress } = (runtime.channel as unknown as { inbound: { ingress: Record<string, () => Promise<unknown>> } }).inbound;
    for (const name of ["resolve", "resolveStable", "createResolver"]) await expect(ingress[name]!()).rejects.toMatchObject(words);
  });

  test("every pending member stands where its path says", async () => {
    const { runtime } = await setup();
    const rows: readonly { readonly now?: readonly string[]; readonly later?: readonly string[] }[] = Object.values(PENDING);
    for (const path of rows.flatMap((row) => [...(row.now ?? []), ...(row.later ?? [])])) {
      const member = path.split(".").reduce<unknown>((place, key) => (place as Record<string, unknown>)[key], runtime);
      expect(member, path).toBeTypeOf("function");
    }
  });

  test("a module's own member replaces the pending one", async () => {
    const { runtime } = await setup("{}", { parts: { "llm.complete": async () => "answer" } });
    expect(await runtime.llm?.complete({})).toBe("answer");
  });
});

describe("configuration", () => {
  test("a plugin's copy is its own", async () => {
    const { runtime } = await setup('{ channels: { irc: { nick: "claw" } } }');
    const copy = runtime.config.loadConfig();
    copy.channels!["irc"] = { nick: "other" };
    expect(runtime.config.current?.().channels?.["irc"]).toEqual({ nick: "claw" });
  });

  test("a change keeps comments and what the plugin did not touch", async () => {
    const { runtime, file } = await setup("{\n  // mine\n  channels: { irc: { nick: 'claw' } },\n  logging: { level: 'info' },\n}\n");
    const result = await runtime.config.mutateConfigFile?.({
      mutate(draft) {
        draft.channels = { ...draft.channels, irc: { ...draft.channels?.["irc"], port: 6697 } };
      },
    });
    expect(result).toMatchObject({ changed: true, config: { channels: { irc: { nick: "claw", port: 6697 } } } });
    expect(readFileSync(file, "utf8")).toContain("// mine");
    expect(await runtime.config.mutateConfigFile?.({ mutate: () => {} })).toMatchObject({ changed: false });
  });

  test("a change is applied to the latest version of the file", async () => {
    const { runtime, file } = await setup("{ channels: { irc: { nick: 'claw' } } }");
    let first = true;
    await runtime.config.mutateConfigFile?.({
      mutate(draft) {
        if (first) writeFileSync(file, "{ channels: { irc: { nick: 'renamed' } } }");
        first = false;
        draft.channels!["irc"]!["port"] = 1;
      },
    });
    expect(runtime.config.loadConfig().channels?.["irc"]).toEqual({ nick: "renamed", port: 1 });
  });

  test("the older write does the same", async () => {
    const { runtime } = await setup("{}");
    await runtime.config.writeConfigFile({ ...runtime.config.loadConfig(), channels: { irc: { nick: "n" } } });
    expect(runtime.config.loadConfig().channels).toEqual({ irc: { nick: "n" } });
  });
});

describe("system", () => {
  test("runs a program without what would load foreign code into it", async () => {
    const { runtime } = await setup();
    const script = "let i='';process.stdin.on('data',d=>i+=d).on('end',()=>{console.log(i+(process.env.NODE_OPTIONS??'none')+process.env.X);process.exit(3)})";
    const result = await runtime.system.runCommandWithTimeout([process.execPath, "-e", script], { timeoutMs: 20_000, input: "in ", env: { X: " x" } });
    expect(result).toMatchObject({ stdout: "in none x\n", code: 3, killed: false, termination: "exit" });
  });

  test("a program that takes too long is killed, which is a result", async () => {
    const { runtime } = await setup();
    expect(await runtime.system.runCommandWithTimeout([process.execPath, "-e", "setInterval(()=>{},1e6)"], 50)).toMatchObject({
      code: null,
      killed: true,
      termination: "timeout",
    });
    await expect(runtime.system.runCommandWithTimeout(["/nowhere/at-all"], 1000)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("queues events and names a native package's remedy", async () => {
    const { runtime, events } = await setup();
    runtime.system.enqueueSystemEvent("hello", { sessionKey: "main", contextKey: null });
    expect(events).toEqual([{ text: "hello", sessionKey: "main", contextKey: undefined }]);
    expect(runtime.system.formatNativeDependencyHint({ packageName: "sharp", manager: "npm" })).toContain("npm rebuild sharp");
  });

  test("wakes an agent after what was queued for it", async () => {
    const { runtime, events } = await setup();
    runtime.system.enqueueSystemEvent("a letter came", { sessionKey: "main" });
    runtime.system.requestHeartbeat?.({ sessionKey: "Main", reason: "letters" });
    runtime.system.requestHeartbeat?.();
    await expect
      .poll(() => events.slice(1))
      .toEqual([{ wake: { reason: "hook:letters", sessionKey: "agent:main:main" } }, { wake: { reason: "hook:sample" } }]);
  });
});

describe("media", () => {
  const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(" ", ""), "hex");

  test("sizes of images by their bytes", async () => {
    const { runtime } = await setup();
    const size = (buffer: Buffer) => runtime.media.getImageMetadata(buffer);
    expect(await size(bytes("89504e470d0a1a0a 0000000d 49484452 00000140 000000f0 08"))).toEqual({ width: 320, height: 240 });
    expect(await size(bytes("474946383961 4001 f000 00"))).toEqual({ width: 320, height: 240 });
    expect(await size(bytes("ffd8 ffe0 0004 0000 ffc0 0011 08 00f0 0140 03 00"))).toEqual({ width: 320, height: 240 });
    expect(await size(Buffer.concat([Buffer.from("RIFF\0\0\0\0WEBPVP8X"), bytes("0a000000 00000000 3f0100 ef0000")]))).toEqual({ width: 320, height: 240 });
    expect(await size(bytes("ffd8 ffe0"))).toBeNull();
    expect(await size(Buffer.from("plain text"))).toBeNull();
  });

  test("a voice message by type, else by name", async () => {
    const { runtime } = await setup();
    const voice = runtime.media.isVoiceCompatibleAudio;
    expect([
      voice({ contentType: "audio/ogg; codecs=opus" }),
      voice({ contentType: "audio/flac", fileName: "a.ogg" }),
      voice({ fileName: "A.OPUS" }),
      voice({}),
    ]).toEqual([true, false, true, false]);
  });

  test("bytes are kept below the media folder under a name nobody can choose", async () => {
    const { runtime, folder } = await setup();
    const { saveMediaBuffer } = runtime.channel.media;
    const saved = await saveMediaBuffer(bytes("89504e470d0a1a0a"), "text/html", undefined, undefined, "../../evil name.html");
    expect(saved).toMatchObject({ size: 8, contentType: "image/png", path: join(folder, "media", "inbound", saved.id) });
    expect(saved.id).toMatch(/^evil_name---[\da-f-]{36}\.png$/);
    expect(statSync(saved.path).mode & 0o777).toBe(0o600);
    await expect(saveMediaBuffer(Buffer.alloc(1), "image/png", "../..")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(saveMediaBuffer(Buffer.alloc(11), "image/png", "inbound", 10)).rejects.toThrow("over the limit");
  });

  test("a remote file is fetched only from where the policy allows, and within its limit", async () => {
    const { runtime } = await setup();
    const server = loadHttp().createServer((_request, response) => void response.setHeader("content-type", "text/plain").end("hello"));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/note.txt`;
    const ssrfPolicy = { allowPrivateNetwork: true };
    const { fetchRemoteMedia, saveResponseMedia } = runtime.channel.media;
    await expect(fetchRemoteMedia({ url })).rejects.toMatchObject({ name: "SsrFBlockedError" });
    expect(await fetchRemoteMedia({ url, ssrfPolicy })).toMatchObject({ contentType: "text/plain", fileName: "note.txt" });
    await expect(fetchRemoteMedia({ url, ssrfPolicy, maxBytes: 3 })).rejects.toThrow("larger than");
    expect(await saveResponseMedia?.({ response: new Response("x", { headers: { "content-type": "text/plain" } }), url })).toMatchObject({
      size: 1,
      contentType: "text/plain",
    });
  });
});

describe("sessions", () => {
  const ctx = { ChatType: "group", GroupSubject: "Ops", ConversationLabel: "Ops", OriginatingChannel: "irc", OriginatingTo: "#ops", Provider: "irc" };
  const fail = (error: unknown): never => {
    throw error;
  };

  test("a message makes the session and notes where it came from", async () => {
    const { runtime, store, clock } = await setup();
    const { recordInboundSession, readSessionUpdatedAt, resolveStorePath } = runtime.channel.session;
    const storePath = resolveStorePath(undefined, { agentId: "main" });
    expect(storePath).toMatch(/agents\/main\/sessions\/sessions\.json$/);
    expect(resolveStorePath("/srv/{agentId}/sessions.json", { agentId: "Work" })).toBe("/srv/work/sessions.json");
    expect(readSessionUpdatedAt({ storePath, sessionKey: "irc:group:#ops" })).toBeUndefined();
    await recordInboundSession({
      storePath,
      sessionKey: "irc:group:#ops",
      ctx,
      updateLastRoute: { sessionKey: "main", channel: "irc", to: "#ops" },
      onRecordError: fail,
    });
    expect((await store.read("sessions.get", { key: "agent:main:irc:group:#ops" }))?.entry).toMatchObject({
      channel: "irc",
      chatType: "group",
      subject: "Ops",
    });
    expect((await store.read("sessions.get", { key: "agent:main:main" }))?.entry).toMatchObject({ lastChannel: "irc", lastTo: "#ops" });
    expect(readSessionUpdatedAt({ storePath, sessionKey: "irc:group:#ops" })).toBe(clock.now());
  });

  test("a session that is not wanted is not made, and one that is there keeps what it has", async () => {
    const { runtime, store } = await setup();
    const { recordSessionMetaFromInbound, updateLastRoute } = runtime.channel.session;
    const storePath = "anything";
    expect(await recordSessionMetaFromInbound({ storePath, sessionKey: "x", ctx, createIfMissing: false })).toBeNull();
    await store.write("sessions.put", { key: "agent:main:x", agentId: "main", entry: { sessionId: "s", updatedAt: 1, label: "kept" }, version: 0 });
    expect(await updateLastRoute({ storePath, sessionKey: "x", channel: "irc", to: "bob" })).toMatchObject({ sessionId: "s", label: "kept", lastTo: "bob" });
  });
});
