import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../../base/spawn.ts";
import { assertPlan, planCommand, shownCommand, type PlanInput } from "./plan.ts";

const folder = mkdtempSync(join(tmpdir(), "exec-plan-"));
const bin = join(folder, "bin");
mkdirSync(bin);
for (const name of ["tool", "cd"]) {
  writeFileSync(join(bin, name), "#!/bin/sh\n");
  chmodSync(join(bin, name), 0o755);
}
writeFileSync(join(bin, "data"), "");
const plan = (command: string, rest: Partial<PlanInput> = {}) => planCommand({ command, cwd: folder, host: "gateway", path: bin, ...rest });

test("each segment names the file that will run, and the script runs that file with quoted words", () => {
  const made = plan("tool 'a b' it\\'s && ./bin/tool | nothing");
  expect(made.segments.map(({ executable }) => executable)).toEqual([join(bin, "tool"), join(bin, "tool"), null]);
  expect(made.script).toBe(`'${bin}/tool' 'a b' 'it'\\''s' && '${bin}/tool' | 'nothing'`);
  expect(plan("data").segments[0]!.executable, "not executable").toBeNull();
  expect(plan("cd x").segments[0]!.executable, "done by the shell").toBeNull();
});

test("what is not understood is the line itself", () => {
  expect(plan("tool > x")).toMatchObject({ analysable: false, segments: [], script: "tool > x" });
  expect(plan("-x > y").script, "never an option of the shell").toBe(" -x > y");
});

test("folders before PATH come first, and PATH itself is not the caller's to set on the host", () => {
  expect(plan("tool", { path: "/nowhere", pathPrepend: [bin] }).segments[0]!.executable).toBe(join(bin, "tool"));
  expect(() => plan("tool", { env: { PATH: "/evil" } })).toThrow(/^Security Violation: .*PATH/);
  expect(plan("tool", { host: "sandbox", env: { PATH: "/elsewhere" } }).path).toBe("/elsewhere");
});

test("a shell that quotes differently is not used", () => {
  expect(plan("tool", { shell: "/bin/zsh" }).shell).toEqual(["/bin/zsh", "-c"]);
  expect(plan("tool", { shell: "/usr/bin/fish" }).shell).toEqual(["/bin/sh", "-c"]);
  expect(plan("tool").shell).toEqual(["/bin/sh", "-c"]);
});

test("a plan that was changed is refused", () => {
  const made = plan("tool a");
  expect(() => assertPlan(made)).not.toThrow();
  expect(() => assertPlan(JSON.parse(JSON.stringify(made)) as typeof made)).not.toThrow();
  expect(() => assertPlan({ ...made, script: "rm -rf /" })).toThrow(/changed/);
  expect(() => assertPlan({ ...made, cwd: "/" })).toThrow(/changed/);
});

test("nothing hides in what is shown", () => {
  expect(shownCommand({ command: "echo \u202Eabc\u200B\r\x1b[2K\tok" })).toBe("echo \\u{202E}abc\\u{200B}\\u{D}\\u{1B}[2K\tok");
});

test("empty commands and null characters are refused", () => {
  expect(() => plan(" \n")).toThrow(/empty/);
  expect(() => plan("a\0b")).toThrow(/null character/);
});

test("a here-document arrives byte for byte, whatever its lines begin with", async () => {
  const body = "END\nENDé\nEé\nAND漢\n$HOME `id` \\\n";
  const made = plan(`cat <<'X'\n${body}X\n`, { path: "/usr/bin:/bin" });
  expect(made.script).toContain(" <<'BND'\n");
  const { stdout } = await run("/bin/sh", { args: ["-c", made.script], env: {}, timeoutMs: 20_000, maxOutputBytes: 10_000 });
  expect(stdout).toBe(body);
  const every = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789").join("\n");
  expect(plan(`cat <<'..'\n${every}\n..\n`).analysable, "no delimiter is left").toBe(false);
});
