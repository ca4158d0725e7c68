import { expect, test } from "vitest";
import { answerFooter, withFooter } from "./notices.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 1200, output: 30, cacheRead: 0, cacheWrite: 0, totalTokens: 1230, cost: COST };

test("an answer that was cut off says so, before what it took", () => {
  expect(answerFooter({ usage: [USAGE], stopReason: "stop" }, { level: "off" })).toBeUndefined();
  expect(answerFooter({ usage: [USAGE], stopReason: "length" }, { level: "off" })).toMatch(/^⚠️ Cut off: /);
  expect(answerFooter({ usage: [USAGE], stopReason: "length" }, { level: "tokens" })).toMatch(/^⚠️ Cut off: .*\n\nUsage: 1\.2k in \/ 30 out$/s);
  const footer = answerFooter({ usage: [], stopReason: "length" }, { level: "off" });
  expect(withFooter([{ text: "one tw" }], footer)[0]!.text).toMatch(/^one tw\n\n⚠️ Cut off/);
  expect(withFooter([], footer)).toMatchObject([{ text: expect.stringContaining("Cut off") as string }]);
});
