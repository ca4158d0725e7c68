import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";

const FOLDER = join(ROOT, "docs/agent");
/** These have tests of their own, without a gateway. */
const ELSEWHERE = ["tools.md", "sandbox.md"];
const pages = readdirSync(FOLDER).filter((page) => page.endsWith(".md") && !ELSEWHERE.includes(page));

interface Part {
  readonly page: string;
  /** The configuration that stands above the commands. */
  readonly config: string;
  readonly lines: readonly string[];
}

/** Commands of a page that have the same configuration above them, in order. */
function partsOf(page: string): readonly Part[] {
  const parts: Part[] = [];
  let config = "{}";
  for (const [, language, text] of readFileSync(join(FOLDER, page), "utf8").matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (language === "json5") config = text!;
    if (language !== "sh") continue;
    const lines = text!.trim().split("\n");
    const last = parts.at(-1);
    if (last?.config === config) parts[parts.length - 1] = { ...last, lines: [...last.lines, ...lines] };
    else parts.push({ page, config, lines });
  }
  return parts;
}

const parts = pages.flatMap(partsOf);

function answerOf(place: Place, message: string): string {
  const params = JSON.stringify({ sessionKey: "main", message, idempotencyKey: message });
  const { stdout } = place.cli("call", "agent", "--expect-final", "--params", params);
  return (JSON.parse(stdout) as { result: { payloads: { text: string }[] } }).result.payloads[0]!.text;
}

/** The id of a question that waits, as the session's file has it. */
function askedId(place: Place): string {
  const text = readFileSync(join(ROOT, "docs/agent/commands.md"), "utf8");
  const documented = /^Approval required \(id (\w+)\).*$/m.exec(text)!;
  const answer = answerOf(place, "run uname -s");
  const folder = join(place.stateDir, "agents/main/sessions");
  const file = readdirSync(folder).find((name) => name.endsWith(".jsonl"))!;
  const id = /"approvalId":"([^"]+)"/.exec(readFileSync(join(folder, file), "utf8"))![1]!;
  expect(answer).toContain(documented[0].replace(documented[1]!, id.slice(0, 8)));
  return id;
}

/** A line with real names in place of the sketched ones. */
function runnable(place: Place, line: string): string {
  const hash = (): string => (JSON.parse(place.cli("call", "exec.approvals.get").stdout) as { hash: string }).hash;
  return line
    .replace("HASH", () => hash())
    .replace("APPROVAL_ID", () => askedId(place))
    .replace("REMEMBERED_ID", () => rememberedId(place));
}

/** The id of a command that was allowed for good. */
function rememberedId(place: Place): string {
  answerOf(place, "run uname -m");
  const { approvals } = JSON.parse(place.cli("approvals", "pending", "--json").stdout) as { approvals: readonly { readonly id: string }[] };
  expect(place.cli("approvals", "resolve", approvals[0]!.id, "allow-always").code).toBe(0);
  for (let tries = 0; tries < 50; tries += 1) {
    const { commands } = JSON.parse(place.cli("approvals", "remembered", "--json").stdout) as { commands: readonly { readonly id: string }[] };
    if (commands[0]) return commands[0].id;
  }
  throw new Error("nothing was remembered");
}

describe("every command that the pages about the agent show works as it stands there", () => {
  test("there are some, on most pages", () => expect(new Set(parts.map(({ page }) => page)).size).toBeGreaterThanOrEqual(5));

  test.each(parts)("$page: $lines", async ({ config, lines }) => {
    const place = makePlace();
    place.configure(config);
    const bin = join(place.home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "openclaw"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/openclaw")}" "$@"\n`, { mode: 0o755 });
    writeFileSync(join(place.home, "rules.json5"), "{ version: 1, agents: {} }");
    const env = { ...place.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
    const gateway = await place.gateway();
    onTestFinished(() => gateway[Symbol.asyncDispose]());
    for (const line of lines) {
      const { status, stdout, stderr } = spawnSync("sh", ["-c", runnable(place, line)], { env, cwd: place.home, encoding: "utf8", timeout: 20_000 });
      expect([line, status, stderr.includes("error:") ? stderr : ""]).toEqual([line, 0, ""]);
      expect(stdout, line).not.toBe("");
    }
  });
});

test("as delivered commands are asked for, and when it is said so they are not", async () => {
  for (const [config, expected] of [
    ["{}", /exec\): Approval required/],
    ['{ tools: { exec: { security: "full", ask: "off" } } }', /exec\): \S+$/],
  ] as const) {
    const place = makePlace();
    place.configure(config);
    await using _gateway = await place.gateway();
    expect(answerOf(place, "run uname -s")).toMatch(expected);
  }
});
