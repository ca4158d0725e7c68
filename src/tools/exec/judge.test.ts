import { expect, test } from "vitest";
import { matchesPath, type AllowEntry } from "./allowlist.ts";
import { judgePlan, type JudgeRules } from "./judge.ts";
import { planCommand } from "./plan.ts";
import { isSafeBin } from "./safe-bins.ts";

const plan = (command: string, env: Record<string, string> = {}) => planCommand({ command, cwd: "/", host: "gateway", path: "/usr/bin:/bin", env });
const pathOf = (name: string): string => plan(name).segments[0]!.executable!;
const allow = (...names: string[]): AllowEntry[] => names.map((pattern) => ({ pattern }));
const rules = (rest: Partial<JudgeRules> = {}): JudgeRules => ({
  security: "allowlist",
  ask: "on-miss",
  allowlist: allow(pathOf("ls")),
  home: "/home/me",
  ignoreCase: false,
  ...rest,
});

test("security and ask decide together", () => {
  const kind = (security: JudgeRules["security"], ask: JudgeRules["ask"], command: string) => judgePlan(plan(command), rules({ security, ask })).kind;
  expect(["off", "on-miss", "always"].map((ask) => kind("deny", ask as "off", "ls"))).toEqual(["deny", "deny", "deny"]);
  expect(["off", "on-miss", "always"].map((ask) => kind("full", ask as "off", "id > x"))).toEqual(["run", "run", "ask"]);
  expect(["off", "on-miss", "always"].map((ask) => kind("allowlist", ask as "off", "ls"))).toEqual(["run", "run", "ask"]);
  expect(["off", "on-miss", "always"].map((ask) => kind("allowlist", ask as "off", "id"))).toEqual(["deny", "ask", "ask"]);
  expect(judgePlan(plan("id"), rules({ ask: "off" }))).toEqual({ kind: "deny", text: "exec denied: allowlist miss" });
  expect(judgePlan(plan("ls"), rules({ security: "deny" }))).toEqual({ kind: "deny", text: "exec denied: host=gateway security=deny" });
});

test("every segment has to be covered, by the list or by a safe program", () => {
  expect(judgePlan(plan("ls -l | head -n 3 && ls"), rules()).kind).toBe("run");
  expect(judgePlan(plan("ls && id"), rules()).kind).toBe("ask");
  expect(judgePlan(plan("ls | head"), rules({ safeBins: [] })).kind).toBe("ask");
});

test("a program of a skill is covered by its file, unless it is a shell, an interpreter or a wrapper", () => {
  const skillPrograms = new Set([pathOf("uname"), pathOf("sh"), pathOf("env")]);
  expect(judgePlan(plan("uname -s | head -n 1"), rules({ skillPrograms }))).toEqual({ kind: "run", entries: [], remembered: [] });
  expect(judgePlan(plan("uname -s && id"), rules({ skillPrograms })).kind).toBe("ask");
  expect(judgePlan(plan("sh x"), rules({ skillPrograms })).kind).toBe("ask");
  expect(judgePlan(plan("env x"), rules({ skillPrograms })).kind).toBe("ask");
  expect(judgePlan(plan("uname -s", { GIT_PAGER: "x" }), rules({ skillPrograms })).kind).toBe("ask");
  expect(judgePlan(plan("uname -s"), rules({ skillPrograms: new Set(["/opt/bin/uname"]) })).kind).toBe("ask");
});

test("a variable that may change what a program does is asked about; one for its language is not", () => {
  expect(judgePlan(plan("ls", { LC_ALL: "C", TZ: "UTC" }), rules()).kind).toBe("run");
  expect(judgePlan(plan("ls", { GIT_PAGER: "sh -c id" }), rules()).kind).toBe("ask");
});

test("patterns: a star stays within a folder, two do not, bare names match nothing", () => {
  expect(matchesPath("/usr/*/ls", "/usr/bin/ls", false)).toBe(true);
  expect(matchesPath("/usr/*", "/usr/bin/ls", false)).toBe(false);
  expect(matchesPath("/usr/**", "/usr/bin/ls", false)).toBe(true);
  expect(matchesPath("/usr/bin/l?", "/usr/bin/ls", false)).toBe(true);
  expect(matchesPath("/usr/bin?ls", "/usr/bin/ls", false)).toBe(false);
  expect(matchesPath("/usr/bin/l.", "/usr/bin/ls", false)).toBe(false);
  expect(matchesPath("/USR/bin/ls", "/usr/bin/ls", false)).toBe(false);
  expect(matchesPath("/USR/bin/ls", "/usr/bin/ls", true)).toBe(true);
  expect(matchesPath(`/${"**".repeat(1)}${"*a".repeat(200)}`, `/${"a".repeat(400)}b`, false)).toBe(false);
  expect(judgePlan(plan("ls"), rules({ allowlist: allow("ls", "*") })).kind).toBe("ask");
});

test("a wildcard covers no shell, interpreter or wrapper; its own path does", () => {
  const wild = rules({ allowlist: allow("/usr/bin/*", "/bin/*", "/**") });
  expect(judgePlan(plan("ls"), wild).kind).toBe("run");
  for (const name of ["sh", "bash", "env", "xargs", "nohup", "timeout", "find", "awk", "perl"])
    expect(judgePlan(plan(`${name} x`), wild).kind, name).toBe("ask");
  expect(judgePlan(plan("sh x"), rules({ allowlist: allow(pathOf("sh")) })).kind).toBe("run");
});

test.each(["head -n 5", "head -5", "tail -n+3", "cut -d, -f1", "cut -d , -f 1", "tr a-z A-Z", "wc -l", "uniq -c", "uniq -", "head --lines=3"])(
  "safe: %s",
  (line) => {
    expect(isSafeBin(plan(line).segments[0]!)).toBe(true);
  },
);

test.each([
  ["files", ["head secrets", "head /etc/passwd", "tail -n 5 x", "wc ../x", "uniq in out", "cut -f1 x", "head -- x", "tr a b c", "tr"]],
  ["options that name files", ["wc --files0-from=x", "wc --files0=x", "sort -o x", "sort --output=x", "sort -ox", "grep -f x", "grep -r x", "grep -e a x"]],
  ["options that run programs", ["sort --compress-program=sh", "sort --compress-prog sh", "tail --pid=1"]],
  ["programs that carry others", ["sh -c id", "env ls", "xargs ls"]],
])("not safe: %s", (_, lines) => {
  const bins = ["head", "tail", "wc", "uniq", "cut", "tr", "sort", "grep", "sh", "env", "xargs"];
  for (const line of lines) expect(isSafeBin(plan(line).segments[0]!, bins), line).toBe(false);
});

test("the filter of jq may not read variables or modules", () => {
  const jq = (...args: string[]) => isSafeBin({ joint: null, argv: ["jq", ...args], executable: "/usr/bin/jq" });
  expect(jq("-r", ".items[] | .name")).toBe(true);
  for (const args of [["env"], ["$ENV.TOKEN"], ['import "x" as x; x::y'], ["-f", "x"], ["-L", "x"], ["--rawfile", "a", "x", "."], [".", "file"]])
    expect(jq(...args), args.join(" ")).toBe(false);
  expect(isSafeBin({ joint: null, argv: ["jq", "."], executable: "/home/me/bin/jq" }), "only from a system folder").toBe(false);
});
