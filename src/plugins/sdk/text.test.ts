import { Type } from "typebox";
import { describe, expect, it, vi } from "vitest";
import * as coerce from "./values/coerce.ts";
import { createDedupeCache } from "./values/dedupe.ts";
import { emitDiagnosticEvent, isDiagnosticsEnabled, onDiagnosticEvent, publishLogRecord, registerLogTransport } from "./diagnostics.ts";
import * as history from "./messages/history.ts";
import { KeyedAsyncQueue } from "./values/identifiers.ts";
import { formatLocationText, toLocationContext } from "./messages/location.ts";
import * as params from "./params.ts";
import { createReplyPrefixOptions, createTypingCallbacks, resolveAckReaction, buildAgentMediaPayload } from "./messages/replies.ts";
import { optionalStringEnum, stringEnum } from "./values/string-enums.ts";
import * as text from "./text.ts";

describe("texts", () => {
  it.each([
    ["", 5, []],
    ["short", 10, ["short"]],
    ["one\ntwo three", 8, ["one", "two", "three"]],
    ["one two three", 8, ["one two", "three"]],
    ["abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["x", 0, ["x"]],
  ])("%j in pieces of %d", (whole, limit, pieces) => {
    expect(text.chunkTextForOutbound(whole, limit)).toEqual(pieces);
  });

  it("lose no word and keep the limit however they are cut", () => {
    const whole = Array.from({ length: 300 }, (_, index) => `word${index}`).join(" ");
    const pieces = text.chunkTextForOutbound(whole, 50);
    expect(pieces.every((piece) => piece.length <= 50)).toBe(true);
    expect(pieces.join(" ")).toBe(whole);
  });

  it.each([
    ["NO_REPLY", true],
    ["  NO_REPLY.", true],
    ["done, NO_REPLY", true],
    ["NO_REPLY_AT_ALL", false],
    ["say NO_REPLY to them", false],
    ["", false],
  ])("%j is silence: %s", (reply, silent) => {
    expect(text.isSilentReplyText(reply)).toBe(silent);
  });

  it("lose Markdown and colours, keep snake_case", () => {
    expect(text.stripMarkdown("# Title\n\n\n\n**bold** _it_ `code` ~~gone~~ my_var_name\n> quote\n---")).toBe("Title\n\nbold it code gone my_var_name\nquote");
    expect(text.stripAnsi("\u001B[31mred\u001B[0m")).toBe("red");
  });

  it("of errors hide secrets", () => {
    expect(text.formatErrorMessage(new Error("Bearer abcdefghijklmnopqrstuvwxyz refused"))).not.toContain("abcdefghijklmnop");
    expect(text.formatErrorMessage({ a: 1 })).toBe('{"a":1}');
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(text.formatErrorMessage(cycle)).toBe("[object Object]");
  });

  it("stand for numbers, phones, messages and values", () => {
    expect(text.normalizeE164("whatsapp:+1 (555) 010-99")).toBe("+155501099");
    expect(text.rawDataToString([Buffer.from("a"), Buffer.from("b")])).toBe("ab");
    expect(text.rawDataToString(new TextEncoder().encode("x").buffer)).toBe("x");
    expect([text.safeParseJson("{"), text.safeParseJson("[1]")]).toEqual([null, [1]]);
    expect([text.clamp(5, 1, 3), text.escapeRegExp("a.b")]).toEqual([3, String.raw`a\.b`]);
    expect([coerce.parseStrictInteger("12"), coerce.parseStrictInteger("12x"), coerce.parseStrictInteger(""), coerce.parseStrictPositiveInteger(0)]).toEqual([
      12,
      undefined,
      undefined,
      undefined,
    ]);
    expect([coerce.parseBooleanValue(" Yes "), coerce.parseBooleanValue("maybe")]).toEqual([true, undefined]);
    expect(coerce.truncateUtf16Safe("a😀", 2)).toBe("a");
  });
});

describe("parameters of tools", () => {
  const given = { text: "  hi ", empty: " ", number: "4.7", remove: true, list: ["a", 1, " b "] };

  it("are read, and missed where they are required", () => {
    expect(params.readStringParam(given, "text")).toBe("hi");
    expect(params.readStringParam(given, "text", { trim: false })).toBe("  hi ");
    expect(params.readStringParam(given, "empty")).toBeUndefined();
    expect(params.readStringParam(given, "empty", { allowEmpty: true })).toBe("");
    expect(() => params.readStringParam(given, "x", { required: true, label: "name" })).toThrow("name required");
    expect([
      params.readNumberParam(given, "number"),
      params.readNumberParam(given, "number", { integer: true }),
      params.readNumberParam(given, "text"),
    ]).toEqual([4.7, 4, undefined]);
    expect(params.readStringArrayParam(given, "list")).toEqual(["a", "b"]);
    expect(() => params.readReactionParams({ emoji: "", remove: true }, { removeErrorMessage: "which one?" })).toThrow("which one?");
    expect(params.readReactionParams({ emoji: "👍" }, { removeErrorMessage: "x" })).toEqual({ emoji: "👍", remove: false, isEmpty: false });
  });

  it("are answered as JSON", () => {
    expect(params.jsonResult({ a: 1 })).toEqual({ content: [{ type: "text", text: '{\n  "a": 1\n}' }], details: { a: 1 } });
    expect(params.jsonResult(undefined).content).toEqual([{ type: "text", text: "null" }]);
  });

  it("are let through by a section of switches", () => {
    const isOn = params.createActionGate<{ send?: boolean; pins?: boolean }>({ send: false });
    expect([isOn("send"), isOn("pins"), isOn("pins", false)]).toEqual([false, true, false]);
    expect(params.extractToolSend({ action: "sendMessage", to: "x", accountId: " a " })).toEqual({ to: "x", accountId: "a" });
    expect(params.extractToolSend({ action: "other", to: "x" })).toBeNull();
  });

  it("may be a choice inside a TypeBox object", () => {
    const schema = Type.Object({ mode: stringEnum(["fast", "slow"], { description: "How." }), more: optionalStringEnum(["x"]) });
    expect(schema.required).toEqual(["mode"]);
    expect(JSON.parse(JSON.stringify(schema.properties))).toEqual({
      mode: { type: "string", enum: ["fast", "slow"], description: "How." },
      more: { type: "string", enum: ["x"] },
    });
  });
});

describe("history of a group", () => {
  it("keeps the newest, stands before the message, and is cleared", () => {
    const historyMap = new Map<string, history.HistoryEntry[]>();
    const place = { historyMap, historyKey: "g", limit: 2 };
    for (const body of ["a", "b", "c"]) history.recordPendingHistoryEntryIfEnabled({ ...place, entry: { sender: "anna", body } });
    const build = () => history.buildPendingHistoryContextFromMap({ ...place, currentMessage: "now", formatEntry: ({ sender, body }) => `${sender}: ${body}` });
    expect(build()).toMatch(/^\[.*\]\nanna: b\nanna: c\n\n\[.*\]\nnow$/);
    history.clearHistoryEntriesIfEnabled(place);
    expect(build()).toBe("now");
    expect(history.recordPendingHistoryEntryIfEnabled({ ...place, limit: 0, entry: { sender: "x", body: "y" } })).toEqual([]);
  });

  it("forgets the chats that have been quiet longest", () => {
    const historyMap = new Map<string, history.HistoryEntry[]>();
    for (let index = 0; index < 1002; index += 1)
      history.recordPendingHistoryEntry({ historyMap, historyKey: `g${index}`, entry: { sender: "s", body: "b" }, limit: 5 });
    expect([historyMap.size, historyMap.has("g1"), historyMap.has("g2")]).toEqual([1000, false, true]);
  });
});

describe("around a reply", () => {
  const cfg = {
    agents: { list: [{ id: "main", identity: { name: "Ada", emoji: "🦉" } }] },
    messages: { responsePrefix: "auto" },
    channels: { irc: { responsePrefix: "irc", accounts: { work: { responsePrefix: "work", ackReaction: " 👍 " } } } },
  };

  it("stands the most particular prefix, whose values fill up", () => {
    const options = createReplyPrefixOptions({ cfg, agentId: "main" });
    options.onModelSelected({ provider: "acme", model: "team/big-20260101", thinkLevel: undefined });
    expect(options.responsePrefix).toBe("[Ada]");
    expect(options.responsePrefixContextProvider()).toEqual({
      identityName: "Ada",
      provider: "acme",
      model: "big",
      modelFull: "acme/team/big-20260101",
      thinkingLevel: "off",
    });
    expect(createReplyPrefixOptions({ cfg, agentId: "main", channel: "irc" }).responsePrefix).toBe("irc");
    expect(createReplyPrefixOptions({ cfg, agentId: "main", channel: "irc", accountId: "work" }).responsePrefix).toBe("work");
    expect([resolveAckReaction(cfg, "main"), resolveAckReaction(cfg, "x"), resolveAckReaction(cfg, "main", { channel: "irc", accountId: "work" })]).toEqual([
      "🦉",
      "👀",
      "👍",
    ]);
  });

  it("shows typing, and a failure of it stops nothing", async () => {
    const onStartError = vi.fn();
    const callbacks = createTypingCallbacks({ start: () => Promise.reject(new Error("no")), stop: () => Promise.reject(new Error("still no")), onStartError });
    await callbacks.onReplyStart();
    callbacks.onIdle?.();
    await vi.waitFor(() => expect(onStartError).toHaveBeenCalledTimes(2), { timeout: 20_000 });
  });

  it("stand media and places", () => {
    expect(buildAgentMediaPayload([])).toEqual({});
    expect(buildAgentMediaPayload([{ path: "/a", contentType: "image/png" }, { path: "/b" }])).toMatchObject({
      MediaPath: "/a",
      MediaPaths: ["/a", "/b"],
      MediaTypes: ["image/png"],
    });
    expect(formatLocationText({ latitude: 1, longitude: 2, accuracy: 9.6, name: "Home", caption: " here " })).toBe("📍 Home (1.000000, 2.000000 ±10m)\nhere");
    expect(formatLocationText({ latitude: 1, longitude: 2, isLive: true })).toContain("Live");
    expect(toLocationContext({ latitude: 1, longitude: 2 })).toMatchObject({ LocationLat: 1, LocationSource: "pin", LocationIsLive: false });
  });
});

describe("shared between host and plugins", () => {
  it("diagnostic events are numbered and outlive a listener that throws", () => {
    const seen: unknown[] = [];
    const off = [
      onDiagnosticEvent(() => {
        throw new Error("mine");
      }),
      onDiagnosticEvent((event) => seen.push(event)),
    ];
    emitDiagnosticEvent({ type: "run.attempt", runId: "r", attempt: 1 });
    emitDiagnosticEvent({ type: "run.attempt", runId: "r", attempt: 2 });
    for (const stop of off) stop();
    emitDiagnosticEvent({ type: "run.attempt", runId: "r", attempt: 3 });
    expect(seen).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
    const [first, second] = seen as { seq: number }[];
    expect(second!.seq).toBe(first!.seq + 1);
    expect([isDiagnosticsEnabled({ diagnostics: { enabled: true } }), isDiagnosticsEnabled()]).toEqual([true, false]);
  });

  it("log records reach every transport until it is taken away", () => {
    const lines: unknown[] = [];
    const off = registerLogTransport((record) => lines.push(record));
    publishLogRecord({ message: "a" });
    off();
    publishLogRecord({ message: "b" });
    expect(lines).toEqual([{ message: "a" }]);
  });

  it("keys are remembered for their time, and no more than the maximum", () => {
    const cache = createDedupeCache({ ttlMs: 100, maxSize: 2 });
    expect([cache.check("a", 0), cache.check("a", 50), cache.check("a", 149), cache.check("a", 249), cache.check(undefined)]).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    cache.check("b", 250);
    cache.check("c", 251);
    expect([cache.size(), cache.check("a", 252)]).toEqual([2, false]);
  });

  it("tasks of a key run one after the other, also behind one that failed", async () => {
    const queue = new KeyedAsyncQueue();
    const order: string[] = [];
    const failing = queue.enqueue("k", async () => {
      order.push("a");
      throw new Error("a failed");
    });
    const second = queue.enqueue("k", () => order.push("b"));
    await expect(failing).rejects.toThrow("a failed");
    await second;
    expect(order).toEqual(["a", "b"]);
    await vi.waitFor(() => expect(queue.size).toBe(0), { timeout: 20_000 });
  });
});
