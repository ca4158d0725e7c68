import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../harness/gateway-process.ts";

const sources = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => ({ name, text: readFileSync(join(ROOT, "src", name), "utf8") }));

test("11: there is one timing-safe comparison, and one file that makes it", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter(({ text }) => text.includes("timingSafeEqual")).map(({ name }) => name)).toEqual(["base/equal-secrets.ts"]);
});

/** What is presented and what is expected, compared by anything that stops at the first difference. */
const EARLY =
  /\b(?:presented|given|provided|supplied)\w*\s*[!=]==?\s*\w*(?:token|secret|password|expected)|\b\w*(?:token|secret|password)\w*\s*[!=]==?\s*(?:presented|given|provided|supplied)|(?:token|secret|password)\w*\.(?:startsWith|endsWith|localeCompare|indexOf)\(/i;

test("11: nowhere in the program is a secret compared any other way", () => {
  const found = sources.flatMap(({ name, text }) =>
    text
      .split("\n")
      .filter((line) => EARLY.test(line) && !/^\s*(?:\*|\/\/)/.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

test.each(["if (presented === token) {", "return token !== given;", "secret.startsWith(text)", "providedToken == expected"])(
  "11: the search finds %s",
  (line) => {
    expect(EARLY.test(line)).toBe(true);
  },
);
