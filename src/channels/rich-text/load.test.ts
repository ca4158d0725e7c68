import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Imports the module's entry point and prints which of the two loads the parser. */
const PROGRAM = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) });
  const { loadRichText } = await import(process.argv[1]);
  const before = loaded.includes("markdown-it");
  const { parseMarkdown, toTelegramHtml } = await loadRichText();
  console.log(JSON.stringify({ before, after: loaded.includes("markdown-it"), html: toTelegramHtml(parseMarkdown("**a**")) }));
`;

test("the parser is loaded on demand and not with the module", async () => {
  const door = new URL("../index.ts", import.meta.url).href;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", PROGRAM, door]);
  expect(JSON.parse(stdout)).toEqual({ before: false, after: true, html: "<b>a</b>" });
});
