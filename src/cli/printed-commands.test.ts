import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROGRAM_COMMANDS } from "../base/program-name.ts";
import { COMMANDS } from "./commands/index.ts";

test("every command of the command line is known where texts name commands", () => {
  expect([...PROGRAM_COMMANDS]).toEqual([...COMMANDS.filter(({ isAlias }) => !isAlias).map(({ name }) => name), "help"].sort());
});

test("no command is written to the standard output as it may not run here", () => {
  const folder = import.meta.dirname;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const named = new RegExp(`openclaw (?:${PROGRAM_COMMANDS.join("|")})\\b`);
  const bare = files.flatMap((name) =>
    readFileSync(join(folder, name), "utf8")
      .split("\n")
      .flatMap((line, index) => (/\bio\.out\(/.test(line) && named.test(line) && !line.includes("io.runnable(") ? [`${name}:${index + 1}`] : [])),
  );
  expect(bare).toEqual([]);
});
