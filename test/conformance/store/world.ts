/** A store of its own for each test, and the rows the tests write. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { manualClock, type ManualClock } from "../../../src/base/clock.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { EntryInput, InboxInput, OutboxInput, Store } from "../../../src/store/index.ts";

export type OpenStore = (folder: string, clock: Clock) => Promise<Store>;

export const DAY = 86_400_000;
export const FILE = "agents/main/sessions/s1.jsonl";
export const HEADER = JSON.stringify({ type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" });

export function message(over: Partial<InboxInput> = {}): InboxInput {
  return {
    channel: "telegram",
    account: "default",
    conversation: "42",
    messageId: "m1",
    kind: "message",
    text: "hello",
    payload: { a: [1] },
    sessionKey: "agent:main:main",
    ...over,
  };
}

export function delivery(over: Partial<OutboxInput> = {}): OutboxInput {
  return { nonce: "n1", channel: "telegram", account: "default", target: "42", payload: { text: "hi" }, expiresAt: 1_700_000_000_000 + DAY, ...over };
}

export function entry(id: string, parentId: string | null, text = "é"): EntryInput {
  return { id, parentId, type: "message", at: 5, line: JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: text } }) };
}

export interface World {
  readonly clock: ManualClock;
  readonly folder: string;
  store(): Store;
  /** Closes and opens again, as a restart does. */
  reopen(): Promise<Store>;
}

/** A store in a folder of its own, for each test. */
export function storeWorld(open: OpenStore): World {
  let folder = "";
  let clock = manualClock();
  let store: Store | undefined;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "store-"));
    clock = manualClock();
    store = await open(folder, clock);
  });
  afterEach(async () => {
    await store?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    get clock() {
      return clock;
    },
    get folder() {
      return folder;
    },
    store: () => store!,
    async reopen() {
      await store![Symbol.asyncDispose]();
      return (store = await open(folder, clock));
    },
  };
}
