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

/** What becomes of a file whose channel answers with these errors first. */
async function fetchedAfter(...errors: readonly object[]): Promise<{ problems: readonly string[]; asked: number; files: number }> {
  const state = mkdtempSync(join(tmpdir(), "keep-media-"));
  onTestFinished(() => rmSync(state, { recursive: true }));
  let asked = 0;
  const fetch = () => {
    const error = errors[(asked += 1) - 1];
    return error === undefined
      ? Promise.resolve({ data: Buffer.from("hello"), fileName: "a.txt" })
      : Promise.reject(Object.assign(new Error("cut off"), error));
  };
  const channels = { get: () => ({ media: { fetch } }) } as unknown as Parameters<typeof mediaKeeper>[0]["channels"];
  const keep = mediaKeeper({ config: { current: {}, paths: { state } } as unknown as Config, ids: createIds(seededRandom(1)), channels });
  const message = { channel: "discord", accountId: "default", media: [{ ref: "1", kind: "document", fileName: "a.txt" }] } as unknown as Parameters<
    typeof keep
  >[0];
  const { kept: files, problems } = await keep(message, AbortSignal.timeout(60_000));
  return { problems, asked, files: files.length };
}

test("a file that the platform could not give is asked for again; one that it refuses is not", async () => {
  expect(await fetchedAfter({ delivery: { state: "unknown" } })).toEqual({ problems: [], asked: 2, files: 1 });
  expect(await fetchedAfter({ delivery: { state: "failed" } })).toEqual({ problems: ["a.txt could not be fetched: cut off"], asked: 1, files: 0 });
});

test("a file that turns out too large while it comes is reported with the setting", async () => {
  expect(await fetchedAfter({ code: "TOO_LARGE", delivery: { state: "failed" } })).toMatchObject({
    problems: ["a.txt is larger than 8 MB, the limit of channels.discord.mediaMaxMb"],
    asked: 1,
  });
});
