import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { sessions } from "../../src/cli/commands/sessions/index.ts";
import { openStore } from "../../src/store/index.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { line, said, seedSession } from "../harness/seeded-session.ts";

test("a conversation is exported whole, also where a part ends in the middle of a character", { timeout: 60_000 }, async () => {
  const { home, stateDir, run } = openCommandLine("sessions", sessions);
  const store = await openStore({ stateDir, clock: systemClock });
  // One of the two is cut between the halves of a character, whatever the length of what stands before it.
  const entries = [line("a", null, said("😀".repeat(260_000)), 1), line("b", "a", said(`x${"😀".repeat(260_000)}`), 2)];
  await seedSession(store, entries, "agent:main:main");
  await store[Symbol.asyncDispose]();
  const whole = entries.map((entry) => `${entry.line}\n`).join("");

  const printed = await run("export", "agent:main:main", "--format", "jsonl");
  expect(printed.code).toBe(0);
  expect(printed.out.endsWith(whole)).toBe(true);
  expect((await run("export", "agent:main:main", "--format", "jsonl", "--output", "chat.jsonl")).code).toBe(0);
  const file = readFileSync(join(home, "chat.jsonl"), "utf8");
  expect(file === printed.out).toBe(true);
  expect(file.includes("\ufffd")).toBe(false);

  const again = await run("export", "agent:main:main", "--output", "chat.jsonl");
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("already exists; use another name or --force") });
  expect((await run("export", "agent:main:main", "--output", "chat.jsonl", "--force")).code).toBe(0);
  expect(readFileSync(join(home, "chat.jsonl"), "utf8")).toContain("# agent:main:main");
});
