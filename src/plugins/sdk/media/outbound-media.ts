/** Outbound media. */
import { loadWebMedia } from "./web-media.ts";
import type { WebMediaOptions, WebMediaResult } from "../types/index.ts";
import { unbuilt } from "../unbuilt.ts";

/** Loads media that a reply refers to, from a URL or from a readable folder. */
export function loadOutboundMediaFromUrl(
  mediaUrl: string,
  options: {
    readonly maxBytes?: number | undefined;
    readonly mediaLocalRoots?: readonly string[] | undefined;
    readonly mediaReadFile?: WebMediaOptions["readFile"];
  } = {},
): Promise<WebMediaResult> {
  return loadWebMedia(mediaUrl, { maxBytes: options.maxBytes, localRoots: options.mediaLocalRoots, readFile: options.mediaReadFile });
}

export const createHostedOutboundMediaStore = unbuilt("createHostedOutboundMediaStore", "media (hosting)", false);
export const saveResponseMedia = unbuilt("saveResponseMedia", "media; use runtime.channel.media.saveResponseMedia");
/** Requests through a proxy. */
export const makeProxyFetch = unbuilt("makeProxyFetch", "media (proxies)", false);

/** A response that releases its connection once the body is read or cancelled. */
export function responseWithRelease(response: Response, release: () => Promise<void> | void): Response {
  if (!response.body) {
    void release();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(async (error: unknown) => {
        await release();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      controller.close();
      await release();
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await release();
    },
  });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}
