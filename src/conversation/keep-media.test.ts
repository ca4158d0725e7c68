import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import type { Config } from "../config/index.ts";
import { mediaKeeper } from "./keep-media.ts";

async function kept(media: { readonly preserveFilenames?: boolean } | undefined): Promise<string> {
  const state = mkdtempSync(join(tmpdir(), "keep-media-"));
  onTestFinished(() => rmSync(state, { recursive: true }));
  const config = { current: media ? { media } : {}, paths: { state } } as unknown as Config;
  const fetch = () => Promise.resolve({ data: Buffer.from("hello"), fileName: "my notes.txt" });
  const channels = { get: () => ({ media: { fetch } }) } as unknown as Parameters<typeof mediaKeeper>[0]["channels"];
  const keep = mediaKeeper({ config, ids: createIds(seededRandom(1)), channels });
  const message = { channel: "paper", accountId: "default", media: [{ ref: "1", kind: "document" }] } as unknown as Parameters<typeof keep>[0];
  return basename((await keep(message, AbortSignal.timeout(10_000))).kept[0]!.path);
}

test("files keep the names that their senders gave them, unless media.preserveFilenames is off", async () => {
  expect(await kept(undefined)).toMatch(/^my_notes---[\da-f-]{36}\.txt$/);
  expect(await kept({ preserveFilenames: true })).toMatch(/^my_notes---/);
  expect(await kept({ preserveFilenames: false })).toMatch(/^[\da-f-]{36}\.txt$/);
});
