import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { route } from "../../src/cli/commands/route/index.ts";
import { dispatch } from "../../src/cli/dispatch.ts";
import type { Io } from "../../src/cli/io.ts";
import { createRouting, type RoutePlace } from "../../src/routing/index.ts";
import { ROOT } from "../harness/gateway-process.ts";

const page = readFileSync(join(ROOT, "docs/routing.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language: language!, text: text! }));

interface Example {
  readonly config: string;
  readonly line: string;
  /** What it prints; undefined where the page does not show it. */
  readonly output: string | undefined;
}

/** Each command with the configuration that stands above it and the output that stands below it. */
function examples(): readonly Example[] {
  let config = "{}";
  return blocks.flatMap(({ language, text }, at) => {
    if (language === "json5") config = text;
    if (language !== "sh") return [];
    const next = blocks[at + 1];
    const lines = text.trim().split("\n");
    return lines.map((line) => ({ config, line, output: next?.language === "text" ? next.text : undefined }));
  });
}

async function run({ config, line }: Example): Promise<{ readonly code: number; readonly out: string }> {
  const home = mkdtempSync(join(tmpdir(), "routing-docs-"));
  const path = join(home, "openclaw.json");
  writeFileSync(path, config);
  let out = "";
  const io: Io = {
    env: { HOME: home, OPENCLAW_STATE_DIR: join(home, "state"), OPENCLAW_CONFIG_PATH: path },
    cwd: home,
    version: "9.9.9",
    out: (text) => void (out += text),
    err: () => undefined,
    color: false,
    interactive: false,
    columns: 160,
    now: () => 0,
    confirm: () => Promise.resolve(false),
    signal: () => new AbortController().signal,
  };
  const [program, ...args] = line.split(" ");
  expect(program).toBe("openclaw");
  const code = await dispatch([{ name: "route", summary: "", load: () => Promise.resolve(route) }], args, io);
  return { code, out };
}

describe("every command of the page about routing", () => {
  const all = examples();
  test("is one of some", () => expect(all.filter(({ output }) => output !== undefined).length).toBeGreaterThanOrEqual(3));
  test.each(all)("$line prints what stands below it", async (example) => {
    const { code, out } = await run(example);
    expect(code).toBe(0);
    expect(out).not.toBe("");
    if (example.output !== undefined) expect(out).toBe(example.output);
  });
  test("and the nick of a linked person gets the key that the page names", async () => {
    const { out } = await run(all.find(({ line }) => line.includes("--channel irc"))!);
    expect(page).toContain(`\`${/^session +(\S+)$/m.exec(out)?.[1]}\``);
  });
});

/** The rows of the table under this header, cell by cell, without ticks. */
function rowsOf(header: string): readonly (readonly string[])[] {
  const lines = page.split("\n");
  const rows = lines.slice(lines.indexOf(header) + 2);
  return rows.slice(0, rows.indexOf("")).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

test("the table of tiers has them in their order", () => {
  const { explanation } = createRouting().resolveRoute({ config: {}, channel: "x" });
  expect(rowsOf("| tier | a binding is in it that has | and matches |").map(([tier]) => tier)).toEqual(explanation.map(({ tier }) => tier));
});

test("the table of session keys says what they are", () => {
  const [ID, PEER, N] = ["chat1", "peer1", "9"];
  const direct = { kind: "direct", id: PEER } as const;
  const group = { kind: "group", id: ID } as const;
  const channel = { kind: "channel", id: ID } as const;
  const asked: readonly (readonly [RoutePlace, "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer"])[] = [
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
