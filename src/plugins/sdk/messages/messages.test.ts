import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadHttp } from "../../../base/builtin.ts";
import {
  buildMutableAllowEntryDetector,
  createDangerousNameMatchingMutableAllowlistWarningCollector,
  collectStandardAllowlistLists,
  filterSupplementalContextItems,
} from "../access/allow-checks.ts";
import { assertOkOrThrowProviderError, readProviderJsonResponse, runChannelProbe, withTimeout } from "../network/http.ts";
import {
  buildHostnameAllowlistPolicyFromSuffixAllowlist,
  isHttpsUrlAllowedByHostnameSuffixAllowlist,
  isLoopbackHost,
  resolvePinnedHostnameWithPolicy,
} from "../network/host-names.ts";
import { createChannelIngressError, createChannelIngressMonitor, dispatchInboundDirectDm } from "../access/ingress.ts";
import {
  asDateTimestampMs,
  isTransientNetworkError,
  parseRetryAfterHeaderSeconds,
  resolveExpiresAtMsFromDurationMs,
  resolveTimerTimeoutMs,
} from "../values/numbers.ts";
import { parseOAuthCallbackInput } from "../network/oauth.ts";
import { deliverTextOrMediaReply, resolveSendableOutboundReplyParts, sendPayloadWithChunkedTextAndMedia } from "./reply-payloads.ts";
import {
  createAttachedChannelResultAdapter,
  createChannelPartialDeliveryError,
  createMessageReceiptFromOutboundResults,
  isChannelPartialDeliveryError,
} from "./send-results.ts";
import { decodeHtmlEntities, sliceUtf16Safe } from "../values/small.ts";
import { sanitizeAssistantVisibleText } from "./outbound-parts.ts";
import {
  applyBasicWebhookRequestGuards,
  createFixedWindowRateLimiter,
  createWebhookAnomalyTracker,
  readJsonWebhookBodyOrReject,
  resolveClientIp,
  resolveWebhookTargetWithAuthOrRejectSync,
  safeEqualSecret,
  withResolvedWebhookRequestPipeline,
} from "../network/webhook-guards.ts";

describe("replies", () => {
  test("media goes with the text as its caption, text alone in chunks", async () => {
    const sent: unknown[] = [];
    const send = async (part: { text: string; mediaUrl?: string }) => (sent.push([part.text, part.mediaUrl]), { messageId: String(sent.length) });
    const base = { textChunkLimit: 2, chunker: (text: string) => text.split(""), sendText: send, sendMedia: send, emptyResult: { messageId: "" } };
    expect(await sendPayloadWithChunkedTextAndMedia({ ...base, ctx: { payload: { text: "ab", mediaUrls: ["x", "y", "x"] } } })).toEqual({ messageId: "2" });
    expect(await sendPayloadWithChunkedTextAndMedia({ ...base, ctx: { payload: { text: "ab" } } })).toEqual({ messageId: "4" });
    expect(await sendPayloadWithChunkedTextAndMedia({ ...base, ctx: { payload: { text: " " } } })).toEqual({ messageId: "" });
    expect(sent).toEqual([
      ["ab", "x"],
      ["", "y"],
      ["a", undefined],
      ["b", undefined],
    ]);
  });

  test("a reply says what of it can be sent and which way it went", async () => {
    expect(resolveSendableOutboundReplyParts({ text: " ", mediaUrl: "u" })).toMatchObject({ hasText: false, hasMedia: true, mediaCount: 1 });
    const done: unknown[] = [];
    const senders = { sendText: async (text: string) => void done.push(text), sendMedia: async (media: object) => void done.push(media) };
    expect(await deliverTextOrMediaReply({ payload: { mediaUrl: "u" }, text: "t", ...senders })).toBe("media");
    expect(await deliverTextOrMediaReply({ payload: {}, text: "t", ...senders })).toBe("text");
    expect(await deliverTextOrMediaReply({ payload: {}, text: "", ...senders })).toBe("empty");
    expect(done).toEqual([{ mediaUrl: "u", caption: "t" }, "t"]);
  });

  test("results get the channel's name, receipts every id once", async () => {
    const adapter = createAttachedChannelResultAdapter({ channel: "s", sendText: async (_ctx: object) => ({ messageId: "1" }) });
    expect(await adapter.sendText({})).toEqual({ channel: "s", messageId: "1" });
    const receipt = createMessageReceiptFromOutboundResults({ results: [{ messageId: "1" }, { messageId: "1" }, {}], kind: "text", sentAt: 5 });
    expect(receipt).toMatchObject({ primaryPlatformMessageId: "1", platformMessageIds: ["1"], sentAt: 5 });
    const partial = createChannelPartialDeliveryError(new Error("late"), { messageIds: ["1"] });
    expect([isChannelPartialDeliveryError(partial), partial.message, isChannelPartialDeliveryError(new Error("x"))]).toEqual([true, "late", false]);
  });

  test("reasoning and calls are not shown, code is left alone", () => {
    expect(sanitizeAssistantVisibleText("<think>secret</think> Hi <final>there</final><tool_call>{}</tool_call>")).toBe("Hi there");
    expect(sanitizeAssistantVisibleText("use `<think>` or\n```xml\n<think>x</think>\n```")).toBe("use `<think>` or\n```xml\n<think>x</think>\n```");
    expect(sanitizeAssistantVisibleText("done <thinking>never closed")).toBe("done");
  });
});

describe("webhooks", () => {
  async function serve(handle: (...args: Parameters<RequestListener>) => Promise<void>): Promise<string> {
    const server = loadHttp().createServer((req, res) => void handle(req, res));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test("a request is handed to whom it is for, and refused otherwise", async () => {
    const targetsByPath = new Map([["/hook", [{ secret: "a" }, { secret: "b" }]]]);
    const url = await serve(async (req, res) => {
      const found = await withResolvedWebhookRequestPipeline({
        req,
        res,
        targetsByPath,
        allowMethods: ["POST"],
        handle: async ({ targets }) => {
          const target = resolveWebhookTargetWithAuthOrRejectSync({
            targets,
            res,
            isMatch: (entry) => safeEqualSecret(entry.secret, String(req.headers["x-secret"] ?? "")),
          });
          if (!target || !applyBasicWebhookRequestGuards({ req, res, requireJsonContentType: true })) return;
          const body = await readJsonWebhookBodyOrReject({ req, res, maxBytes: 20 });
          if (body.ok) res.end(JSON.stringify([target.secret, body.value]));
        },
      });
      if (!found) res.writeHead(404).end();
    });
    const post = async (init: RequestInit, path = "/hook") => {
      const answer = await fetch(url + path, { method: "POST", ...init });
      return [answer.status, await answer.text()];
    };
    const headers = { "x-secret": "b", "content-type": "application/json" };
    expect(await post({ headers, body: '{"n":1}' })).toEqual([200, '["b",{"n":1}]']);
    expect((await post({ headers, body: "{" }))[0]).toBe(400);
    expect((await post({ headers, body: `"${"x".repeat(30)}"` }))[0]).toBe(413);
    expect((await post({ headers: { ...headers, "content-type": "text/plain" }, body: "{}" }))[0]).toBe(415);
    expect((await post({ headers: { "x-secret": "c" }, body: "{}" }))[0]).toBe(401);
    expect((await post({ method: "GET" }))[0]).toBe(405);
    expect((await post({ body: "{}" }, "/other"))[0]).toBe(404);
  });

  test("so many per window and key, and the quiet ones are forgotten", () => {
    const limiter = createFixedWindowRateLimiter({ windowMs: 100, maxRequests: 1, maxTrackedKeys: 2 });
    expect([limiter.isRateLimited("a", 0), limiter.isRateLimited("a", 50), limiter.isRateLimited("a", 100)]).toEqual([false, true, false]);
    for (const key of ["b", "c"]) limiter.isRateLimited(key, 100);
    expect([limiter.size(), limiter.isRateLimited("a", 101)]).toEqual([2, false]);
  });

  test("refusals are logged the first time and then every so many", () => {
    const lines: string[] = [];
    const tracker = createWebhookAnomalyTracker({ logEvery: 2 });
    for (const statusCode of [401, 401, 200, 401]) tracker.record({ key: "k", statusCode, message: (count) => `n=${count}`, log: (line) => lines.push(line) });
    expect(lines).toEqual(["n=1", "n=2"]);
  });

  test("a proxy is believed only where it is trusted", () => {
    const remoteAddr = "::ffff:10.0.0.1";
    expect(resolveClientIp({ remoteAddr, forwardedFor: "1.1.1.1" })).toBe("10.0.0.1");
    expect(resolveClientIp({ remoteAddr, forwardedFor: "9.9.9.9, 1.1.1.1, 10.0.0.2", trustedProxies: ["10.0.0.0/8"] })).toBe("1.1.1.1");
    expect(resolveClientIp({ remoteAddr, realIp: "2.2.2.2", trustedProxies: ["10.0.0.1"], allowRealIpFallback: true })).toBe("2.2.2.2");
  });

  test("no secret equals nothing", () => {
    expect([safeEqualSecret("a", "a"), safeEqualSecret("a", "b"), safeEqualSecret("", ""), safeEqualSecret(undefined, undefined)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("other services", () => {
  test("an answer is read, or says what is wrong with it", async () => {
    expect(await readProviderJsonResponse(new Response('{"a":1}'), "svc")).toEqual({ a: 1 });
    await expect(readProviderJsonResponse(new Response("<html>"), "svc")).rejects.toThrow("not JSON");
    await expect(readProviderJsonResponse(new Response('"long"'), "svc", { maxBytes: 3 })).rejects.toThrow("more than 3 bytes");
    await expect(assertOkOrThrowProviderError(new Response("nope", { status: 503 }), "svc")).rejects.toMatchObject({
      status: 503,
      message: "svc answered 503: nope",
    });
  });

  test("a probe that fails is an answer, and one that hangs ends", async () => {
    expect(await runChannelProbe(undefined, async () => Promise.reject(new Error("down")))).toMatchObject({ ok: false, error: "down" });
    await expect(withTimeout(new Promise(() => {}), 1, "it")).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("hosts are recognised by their addresses", async () => {
    expect(["localhost", "127.0.0.9", "[::1]", "example.com"].map((host) => isLoopbackHost(host))).toEqual([true, true, true, false]);
    await expect(resolvePinnedHostnameWithPolicy("10.0.0.1")).rejects.toMatchObject({ name: "SsrFBlockedError" });
    expect(await resolvePinnedHostnameWithPolicy("10.0.0.1", { policy: { allowPrivateNetwork: true } })).toEqual({
      hostname: "10.0.0.1",
      addresses: ["10.0.0.1"],
    });
    expect(
      ["https://a.example.com", "https://example.com.evil", "http://example.com"].map((url) =>
        isHttpsUrlAllowedByHostnameSuffixAllowlist(url, ["example.com"]),
      ),
    ).toEqual([true, false, false]);
    expect(buildHostnameAllowlistPolicyFromSuffixAllowlist(["*.Example.com"])).toEqual({ hostnameAllowlist: ["example.com", "*.example.com"] });
  });

  test("times and delays stay within what dates and timers hold", () => {
    expect([asDateTimestampMs(1), asDateTimestampMs(9e15), resolveTimerTimeoutMs("x", 5), resolveTimerTimeoutMs(1e12, 5)]).toEqual([
      1,
      undefined,
      5,
      2_147_483_647,
    ]);
    expect([resolveExpiresAtMsFromDurationMs(10, { nowMs: 5 }), resolveExpiresAtMsFromDurationMs(-1)]).toEqual([15, undefined]);
    expect([
      parseRetryAfterHeaderSeconds("7"),
      parseRetryAfterHeaderSeconds("Thu, 01 Jan 1970 00:00:10 GMT", 4000),
      parseRetryAfterHeaderSeconds("soon"),
    ]).toEqual([7, 6, undefined]);
    expect([isTransientNetworkError(new Error("x", { cause: { code: "ECONNRESET" } })), isTransientNetworkError(new Error("x"))]).toEqual([true, false]);
  });

  test("a login's redirect has to be ours", () => {
    expect(parseOAuthCallbackInput("http://localhost/cb?code=c&state=s", "s")).toEqual({ code: "c", state: "s" });
    expect(parseOAuthCallbackInput("http://localhost/cb?code=c&state=other", "s")).toHaveProperty("error");
  });
});

describe("the rest", () => {
  test("names on allow lists are warned of unless they are wanted", () => {
    const detector = buildMutableAllowEntryDetector({ prefixes: ["s:"], stableIdPattern: /^\d+$/ });
    const collect = createDangerousNameMatchingMutableAllowlistWarningCollector({ channel: "s", detector, collectLists: collectStandardAllowlistLists });
    expect(collect({ cfg: { channels: { s: { allowFrom: ["s:1", "Bob", "*"] } } } })).toEqual([expect.stringContaining("channels.s.allowFrom lists Bob")]);
    expect(collect({ cfg: { channels: { s: { allowFrom: ["Bob"], dangerouslyAllowNameMatching: true } } } })).toEqual([]);
  });

  test("what strangers wrote is left out where the mode says so", () => {
    const params = { items: ["a", "b"], kind: "thread", isSenderAllowed: (item: string) => item === "a" };
    expect([filterSupplementalContextItems({ ...params, mode: "all" }), filterSupplementalContextItems({ ...params, mode: "allowlist" })]).toEqual([
      { items: ["a", "b"], omitted: 0 },
      { items: ["a"], omitted: 1 },
    ]);
  });

  test("text is decoded once and cut between characters", () => {
    expect(decodeHtmlEntities("&amp;lt; &#x1F600; &#55296; &nothing;")).toBe("&lt; 😀 &#55296; &nothing;");
    expect([sliceUtf16Safe("a😀b", 0, 2), sliceUtf16Safe("a😀b", 2)]).toEqual(["a", "b"]);
  });

  test("a channel's own error carries its reason", () => {
    const Rejected = createChannelIngressError("Rejected", { withReason: true });
    expect(new Rejected("full", "no space")).toMatchObject({ name: "Rejected", reason: "full", message: "no space" });
  });

  test("what needs a missing module says which one", async () => {
    expect(() => createChannelIngressMonitor({})).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: expect.stringMatching(/^createChannelIngressMonitor is not there yet.*ctx\.inbound\.accept/) }),
    );
    await expect(async () => dispatchInboundDirectDm({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});
