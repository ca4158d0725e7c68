import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Config } from "../../src/config/index.ts";
import { lazyDocuments } from "../../src/media/index.ts";
import type { ImageContent } from "../../src/protocol/index.ts";
import { createMarkUntrusted } from "../../src/tools/index.ts";
import { createUnderstanding, type Understanding, type UnderstandingRequest } from "../../src/understanding/index.ts";
import { pdfOf } from "../harness/documents.ts";
import { event, openPlace, OPEN } from "./place.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");
const FILES: Readonly<Record<string, Buffer>> = {
  "cat.png": PNG,
  "dog.png": PNG,
  "bill.pdf": pdfOf(["Total 12"]),
  "locked.pdf": pdfOf(["x"], { isEncrypted: true }),
};
const channel = { media: { fetch: async ({ ref }: { readonly ref: unknown }) => ({ data: FILES[String(ref)]!, fileName: String(ref) }) } };
const media = (...names: readonly string[]) =>
  names.map((ref) => ({ kind: ref.endsWith(".png") ? ("image" as const) : ("document" as const), ref, fileName: ref }));

/** The real reader; no model is there to describe pictures. */
const reader = (): Promise<Understanding> =>
  createUnderstanding({
    config: {
      current: { tools: { media: { image: { enabled: false } } } },
      env: () => ({}),
      paths: { home: "/nowhere", state: "/nowhere" },
    } as unknown as Config,
    clock: systemClock,
    log: silentLogger,
    models: () => Promise.reject(new Error("no models")),
    documents: lazyDocuments(systemClock),
    fitImages: async (parts) => parts,
    mark: createMarkUntrusted(createIds(systemRandom)),
  });

test("the text of a document that came over a channel reaches the agent, and so does the reason when there is none", async () => {
  const { understand } = await reader();
  await using place = await openPlace(OPEN, { channel, storesMedia: true, understand: (...asked) => understand(...asked) });
  await place.inbound.accept(event("pay it", { media: media("bill.pdf", "locked.pdf") }));
  const [text = ""] = await place.out(1);
  expect(text).toMatch(
    /pay it[^]*\[media attached: .*bill.*\.pdf \(application\/pdf\)\][^]*<file name="bill\.pdf" mime="application\/pdf">[^]*\nTotal 12\n<<<END_EXTERNAL_UNTRUSTED_CONTENT/,
  );
  expect(text).toContain("[media: locked.pdf could not be read: the PDF is protected with a password]");
});

test("described pictures are not shown, the others are; the message is known to what describes", async () => {
  const asked: UnderstandingRequest[] = [];
  const shown: (readonly ImageContent[] | undefined)[] = [];
  await using place = await openPlace(OPEN, {
    channel,
    storesMedia: true,
    async understand(request) {
      asked.push(request);
      return {
        files: [
          { lines: ["[Image] a cat"], isDescribed: true },
          { lines: [], pictures: [{ type: "image", mimeType: "image/jpeg", data: "AAAA" }] },
        ],
        links: ["[Link] page"],
      };
    },
    wrap: (turn) => (input, ports) => (shown.push(input.images), turn(input, ports)),
  });
  await place.inbound.accept(event("look at https://example.com", { media: media("cat.png", "dog.png") }));
  const [text = ""] = await place.out(1);
  expect(text).toMatch(/\[Image\] a cat\n\n\[Link\] page$/);
  expect(shown[0]?.map(({ mimeType }) => mimeType)).toEqual(["image/png", "image/jpeg"]);
  expect(asked).toMatchObject([
    {
      agentId: "main",
      channel: "test",
      text: "look at https://example.com",
      fields: { SenderName: "Ada", ChatType: "direct" },
      files: [{ mimeType: "image/png" }, {}],
    },
  ]);
});

test("a message is answered whatever happens to its files", async () => {
  await using place = await openPlace(OPEN, { channel, storesMedia: true, understand: () => Promise.reject(new Error("broken")) });
  await place.inbound.accept(event("hello", { media: media("cat.png") }));
  const [text = ""] = await place.out(1);
  expect(text).toMatch(/hello[^]*\[media attached: /);
});
