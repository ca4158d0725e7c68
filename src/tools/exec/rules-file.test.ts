import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import { createExecRules } from "./rules-file.ts";

const TOOL = { security: "full", ask: "off" } as const;

function fixture(content?: unknown) {
  const path = join(mkdtempSync(join(tmpdir(), "exec-rules-")), "exec-approvals.json");
  if (content !== undefined) writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  const random = seededRandom(1);
  return { path, rules: createExecRules({ path, clock: manualClock(5000), ids: createIds(random), random }) };
}

test("without a file the tool's own values hold", () => {
  expect(fixture().rules.effective("main", TOOL)).toEqual({ security: "full", ask: "off", askFallback: "deny", autoAllowSkills: false, allowlist: [] });
});

test("the agent comes before everybody and the defaults, and the stricter of file and tool holds", () => {
  const { rules } = fixture({
    version: 1,
    defaults: { security: "deny", ask: "always", askFallback: "full" },
    agents: {
      "*": { security: "allowlist", allowlist: ["/bin/a"] },
      main: { ask: "on-miss", allowlist: [{ id: "x", pattern: "/bin/b" }, { pattern: " " }, 7] },
    },
  });
  expect(rules.effective("main", TOOL)).toMatchObject({
    security: "allowlist",
    ask: "on-miss",
    askFallback: "full",
    allowlist: [
      { id: expect.any(String), pattern: "/bin/a" },
      { id: "x", pattern: "/bin/b" },
    ],
  });
  expect(rules.effective("other", { security: "deny", ask: "off" })).toMatchObject({ security: "deny", ask: "always" });
  expect(rules.effective("toString", TOOL).allowlist).toHaveLength(1);
});

test("rules of the agent `default` are those of main", () => {
  const { rules } = fixture({ version: 1, agents: { default: { security: "deny", allowlist: ["/bin/a"] }, main: { ask: "always" } } });
  expect(rules.effective("main", TOOL)).toMatchObject({ security: "deny", ask: "always", allowlist: [{ pattern: "/bin/a" }] });
});

test.each([
  ["bad JSON", "{"],
  ["another version", { version: 2, defaults: { security: "deny" } }],
  ["a list", []],
])("%s frees nothing, and is not overwritten", async (_, content) => {
  const { rules, path } = fixture(content);
  const before = readFileSync(path, "utf8");
  expect(rules.effective("main", TOOL)).toMatchObject({ security: "allowlist", ask: "on-miss", allowlist: [] });
  await expect(rules.used("main", [{ pattern: "/bin/a" }], "a")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("uses are noted for their agent, in a file that only its owner reads, and the socket's token stays", async () => {
  const { rules, path } = fixture({ version: 1, agents: { main: { allowlist: ["/bin/a", "/bin/b"] } } });
  await rules.used("main", [{ pattern: "/bin/b" }], "b x");
  expect(rules.effective("main", TOOL).allowlist).toMatchObject([{ pattern: "/bin/a" }, { pattern: "/bin/b", lastUsedAt: 5000, lastUsedCommand: "b x" }]);
  expect(rules.effective("other", TOOL).allowlist).toEqual([]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const file = JSON.parse(readFileSync(path, "utf8")) as { socket: { path: string; token: string } };
  expect(file.socket.path).toBe(path.replace(".json", ".sock"));
  expect(Buffer.from(file.socket.token, "base64url")).toHaveLength(24);
  await rules.used("main", [{ pattern: "/bin/a" }], "a");
  expect((JSON.parse(readFileSync(path, "utf8")) as { socket: { token: string } }).socket.token).toBe(file.socket.token);
});
