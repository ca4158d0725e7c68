import { expect, test } from "vitest";
import { createRedactor } from "../../base/redaction.ts";
import type { CallEvent } from "../../models/index.ts";
import { maskedAnswer } from "./masked.ts";

async function* events(...list: readonly CallEvent[]): AsyncGenerator<CallEvent> {
  yield* list;
}

test("the end of a thought that could begin a secret comes before the answer, not after it", async () => {
  const redactor = createRedactor();
  redactor.register("mellow-secret-0123");
  const seen: (readonly [string, string])[] = [];
  const answer = events(
    { type: "thinking", index: 0, delta: "w-hm" },
    { type: "thinking", index: 0, delta: "m" },
    { type: "text", index: 1, delta: "Done: mellow-sec" },
    { type: "text", index: 1, delta: "ret-0123." },
  );
  for await (const event of maskedAnswer(redactor, answer)) if (event.type === "text" || event.type === "thinking") seen.push([event.type, event.delta]);
  const joined = (type: string): string =>
    seen
      .filter(([kind]) => kind === type)
      .map(([, delta]) => delta)
      .join("");
  expect(joined("thinking")).toBe("w-hmm");
  expect(seen.map(([kind]) => kind).lastIndexOf("thinking")).toBeLessThan(seen.findIndex(([kind]) => kind === "text"));
  expect(joined("text")).not.toContain("mellow-secret");
});
