import { expect, test } from "vitest";
import { sentBytes, tooMuch } from "./message-size.ts";
import type { Attachment, Draft } from "./state.ts";

const LIMIT = 26_214_400;
const file = (letters: number): Attachment => ({ type: "file", mimeType: "application/octet-stream", fileName: "größe.bin", content: "A".repeat(letters) });
const draft = (text: string, ...attachments: Attachment[]): Draft => ({ text, attachments });

const onTheWire = ({ text, attachments }: Draft): number => {
  const params = { sessionKey: `agent:main:web:${"x".repeat(200)}`, message: text, idempotencyKey: "0".repeat(36), attachments, thinking: "medium" };
  return new TextEncoder().encode(JSON.stringify({ type: "req", id: "c123456", method: "chat.send", params })).length;
};

test("a message is never said to be smaller than it is on the wire, whatever its letters are", () => {
  for (const one of [draft("short"), draft('"\n\u0001"\\'.repeat(500)), draft("日本語 🦀".repeat(500)), draft("look", file(1000), file(50_000))]) {
    expect(sentBytes(one)).toBeGreaterThanOrEqual(onTheWire(one));
    expect(sentBytes(one) - onTheWire(one)).toBeLessThan(2000);
  }
});

test("what is too large is reported with its size and the limit; what fits, or has no limit yet, is not", () => {
  const large = draft("look", ...Array.from({ length: 5 }, () => file(6_533_336)));
  expect(tooMuch(large, LIMIT)).toMatch(/^The message would be 32\.7 MB when sent; the gateway accepts up to 26\.2 MB, about 19\.7 MB of files\.$/);
  expect(tooMuch(large, undefined)).toBeUndefined();
  expect(tooMuch(draft("look", file(26_000_000)), LIMIT)).toBeUndefined();
  expect(tooMuch(draft("é".repeat(14_000_000)), LIMIT)).toMatch(/28 MB/);
});
