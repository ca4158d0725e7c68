import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseDocument } from "../document/index.ts";
import { formatIssue, validateConfig } from "./index.ts";

interface Expected {
  readonly path: string;
  readonly line: number;
  readonly messageIncludes: string;
}

const folder = new URL("../../../test/fixtures/config/broken/", import.meta.url);
const expected = JSON.parse(readFileSync(new URL("expected.json", folder), "utf8")) as Record<string, Expected[]>;
const files = readdirSync(folder).filter((name) => name.endsWith(".json5"));

describe("a broken configuration is reported completely, in order and at its line", () => {
  test.each(files)("%s", (name) => {
    const document = parseDocument(readFileSync(new URL(name, folder), "utf8"), name);
    const issues = validateConfig(document.value);
    const found = issues.map((issue) => ({ path: issue.path.join("."), line: document.locate(issue.path)?.line, message: issue.message }));
    const wanted = (expected[name] ?? []).map(({ path, line, messageIncludes }) => ({ path, line, message: expect.stringContaining(messageIncludes) }));
    expect(found).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(0);
  });

  test("and the list of expectations names no file that is gone", () => {
    expect(Object.keys(expected).sort()).toEqual(files.sort());
    expect(files.length).toBeGreaterThan(45);
  });

  test("without showing a secret", () => {
    const shown = files.flatMap((name) => validateConfig(parseDocument(readFileSync(new URL(name, folder), "utf8"), name).value).map(formatIssue)).join("\n");
    for (const secret of ["hunter2", "481516234200", "user:pass", "0123456789abcdef"]) expect(shown).not.toContain(secret);
  });
});
