import { expect, test } from "vitest";
import { fixWords, summaryWords, topicWords } from "./security-facts.ts";

test("the summary names the worst there is", () => {
  expect(summaryWords({ summary: { critical: 2, warn: 1, info: 1 } })).toBe("2 critical findings");
  expect(summaryWords({ summary: { critical: 0, warn: 1, info: 1 } })).toBe("1 warning");
  expect(summaryWords({ summary: { critical: 0, warn: 0, info: 1 } })).toBe("No problems found");
});

test("a fix says what it changes, before it does", () => {
  expect(fixWords({ id: "1", kind: "config", path: "logging.redactSensitive", before: "off", after: "tools" })).toBe(
    "Set logging.redactSensitive from off to tools",
  );
  expect(fixWords({ id: "2", kind: "chmod", path: "/state", before: "755", after: "700" })).toBe("Remove other users’ access to /state: mode 755 becomes 700");
});

test("groups of checks have names, also those that are new", () => {
  expect([topicWords("extensions"), topicWords("later")]).toEqual(["plugins and skills", "later"]);
});
