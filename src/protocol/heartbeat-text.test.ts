import { expect, test } from "vitest";
import { heartbeatText } from "./index.ts";

test.each([
  [{ status: "ok-token" }, "OK, nothing to report"],
  [{ status: "sent", channel: "telegram", preview: "The disk is full" }, "sent to telegram: The disk is full"],
  [{ status: "skipped", reason: "empty-heartbeat-file" }, "did nothing: HEARTBEAT.md asks for nothing, so no model was called"],
  [{ status: "skipped", reason: "the channel telegram is not running" }, "did nothing: the channel telegram is not running"],
  [{ status: "failed", reason: "no key" }, "failed: no key"],
] as const)("the heartbeat %j reads: %s", (beat, text) => {
  expect(heartbeatText(beat)).toBe(text);
});
