import { describe, expect, test } from "vitest";
import { route } from "../../src/cli/commands/groups.ts";
import { createRouting, type RouteLocation } from "../../src/routing/index.ts";
import { openCommandLine } from "../harness/command-line.ts";
import { readPage, type Example } from "../harness/docs-page.ts";

const page = readPage("docs/routing.md");

function run({ config = "{}", line }: Example) {
  const [program, name, ...args] = line.split(" ");
  expect([program, name]).toEqual(["openclaw", "route"]);
  return openCommandLine("route", route, { config }).run(...args);
}

describe("every command of the page about routing", () => {
  const all = page.examples;
  test("is one of some", () => expect(all.filter(({ output }) => output !== undefined).length).toBeGreaterThanOrEqual(3));
  test.each(all)("$line prints what stands below it", async (example) => {
    const { code, out } = await run(example);
    expect(code).toBe(0);
    expect(out).not.toBe("");
    if (example.output !== undefined) expect(out).toBe(example.output);
  });
  test("and the nick of a linked person gets the key that the page names", async () => {
    const { out } = await run(all.find(({ line }) => line.includes("--channel irc"))!);
    expect(page.text).toContain(`\`${/^session +(\S+)$/m.exec(out)?.[1]}\``);
  });
});

/** The rows of a table, without ticks. */
const rowsOf = (header: string): readonly (readonly string[])[] => page.rowsOf(header).map((row) => row.map((cell) => cell.replaceAll("`", "")));

test("the table of tiers has them in their order", () => {
  const { explanation } = createRouting().resolveRoute({ config: {}, channel: "x" });
  expect(rowsOf("| tier | a binding is in it that has | and matches |").map(([tier]) => tier)).toEqual(explanation.map(({ tier }) => tier));
});

test("the table of session keys says what they are", () => {
  const [ID, PEER, N] = ["chat1", "peer1", "9"];
  const direct = { kind: "direct", id: PEER } as const;
  const group = { kind: "group", id: ID } as const;
  const channel = { kind: "channel", id: ID } as const;
  const asked: readonly (readonly [RouteLocation, "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer"])[] = [
    [{ channel: "irc", peer: direct }, "main"],
    [{ channel: "irc", peer: direct }, "per-peer"],
    [{ channel: "irc", peer: direct }, "per-channel-peer"],
    [{ channel: "irc", peer: direct }, "per-account-channel-peer"],
    [{ channel: "irc", peer: group }, "main"],
    [{ channel: "irc", peer: channel }, "main"],
    [{ channel: "telegram", peer: group, threadId: N }, "main"],
  ];
  const filled = rowsOf("| chat | session key |").slice(0, asked.length);
  const written = filled.map(([, key]) =>
    key!.replace("<agent>", "main").replace("<channel>", "irc").replace("<account>", "default").replace("<peer>", PEER).replace("<id>", ID).replace("<n>", N),
  );
  expect(asked.map(([place, dmScope]) => createRouting().resolveRoute({ config: { session: { dmScope } }, ...place }).sessionKey)).toEqual(written);
});
