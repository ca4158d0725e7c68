import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { ROOT } from "../harness/gateway-process.ts";

const pages = [...readdirSync(ROOT), ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" }).map((name) => join("docs", name))].filter(
  (name) => name.endsWith(".md"),
);
const read = (page: string): string => readFileSync(join(ROOT, page), "utf8");

test("every configuration shown in the documentation is valid", () => {
  const shown = pages.flatMap((page) => [...read(page).matchAll(/```json5\n([\s\S]*?)```/g)].map((match) => ({ page, text: match[1]! })));
  expect(shown.length).toBeGreaterThan(0);
  const folder = mkdtempSync(join(tmpdir(), "openclaw-docs-"));
  for (const { page, text } of shown) {
    const path = join(folder, "openclaw.json");
    writeFileSync(path, text);
    const { snapshot } = loadConfig({ path, env: {}, osHome: folder, cwd: folder });
    expect(snapshot.issues, page).toEqual([]);
  }
});

test("every link between the pages leads somewhere", () => {
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !existsSync(join(ROOT, normalize(join(dirname(page), target)))))
      .map((target) => `${page}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test("the command line's page names every command", () => {
  const page = read("docs/cli.md");
  for (const { name, isAlias } of COMMANDS) expect(page, name).toContain(isAlias ? `\`${name}` : `| \`${name}`);
});
