/** 12: an allowlist looked at the first word. What is planned is what runs, and what is not planned is not covered. */
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgePlan } from "../../src/tools/exec/judge.ts";
import { planCommand } from "../../src/tools/exec/plan.ts";
import { rememberable } from "../../src/tools/exec/remember/rule.ts";
import { execCampaign } from "../fuzz/exec-campaign.ts";

const folder = mkdtempSync(join(tmpdir(), "exec-allowlist-"));
const bin = join(folder, "bin");
const PROGRAMS =
  "ls echo cat env busybox toybox xargs find sh bash zsh nohup nice timeout setsid stdbuf sudo python3 perl node awk sed ssh git evil time watch".split(" ");
mkdirSync(bin);
for (const name of PROGRAMS) {
  writeFileSync(join(bin, name), "#!/bin/sh\n");
  chmodSync(join(bin, name), 0o755);
}
symlinkSync(join(bin, "bash"), join(bin, "harmless"));
writeFileSync(join(folder, "ls"), "#!/bin/sh\n");
chmodSync(join(folder, "ls"), 0o755);

const plan = (command: string) => planCommand({ command, cwd: folder, host: "gateway", path: bin });
const verdict = (command: string, patterns: readonly string[]) =>
  judgePlan(plan(command), {
    security: "allowlist",
    ask: "off",
    allowlist: patterns.map((pattern) => ({ pattern })),
    home: folder,
    ignoreCase: false,
    safeBins: ["head", "sh", "env", "busybox"],
  }).kind;
const HONEST = ["ls", "echo", "cat"].map((name) => join(bin, name));

test("generated lines run with the arguments that were planned", async () => {
  const { calls, broken } = await execCampaign({ lines: 300, seed: 12 });
  expect(broken).toEqual([]);
  expect(calls).toBeGreaterThan(300);
});

test("the listed programs themselves are covered", () => {
  for (const line of ["ls", "ls -la 'a b'", "ls && echo x; cat y | cat", `"${bin}"/ls`, "l's'", "\\ls", "ls \"*\" '$(evil)'", "cat <<'E'\n$(evil)\nE"])
    expect(verdict(line, HONEST), line).toBe("run");
});

const BYPASSES = [
  // another program after, before or inside
  "ls; evil",
  "ls && evil",
  "ls || evil",
  "ls | evil",
  "evil | ls",
  "ls & evil",
  "ls &",
  "ls\nevil",
  "ls\r\nevil",
  "ls |& evil",
  "ls;;evil",
  "ls\\\n; evil",
  "ls;\\\nevil",
  // substitution and expansion
  "ls $(evil)",
  "ls `evil`",
  'ls "$(evil)"',
  'ls "`evil`"',
  "ls <(evil)",
  "ls >(evil)",
  "ls ${x:-$(evil)}",
  "ls $((x[$(evil)]))",
  "echo $'\\x41'",
  "$(echo evil)",
  "`echo evil`",
  "$SHELL -c evil",
  "${0}",
  "cat <<E\n$(evil)\nE",
  "cat <<E\n`evil`\nE",
  "cat <<E | evil\nx\nE",
  "cat <<E\nx\nE\nevil",
  "cat <<'E'\nx\nE\nevil",
  "cat <<<$(evil)",
  // patterns and braces
  "/*/evil",
  "bin/e*",
  "bin/e?il",
  "bin/[e]vil",
  "{ls,evil}",
  "l{s,}",
  "~/bin/evil",
  "ls *",
  'e"vi"l',
  "'ev'il",
  "\\e\\v\\i\\l",
  "ev''il",
  // carriers
  "env evil",
  "env -S 'ls; evil'",
  "env -S'sh -c evil'",
  "env - ls",
  "env ls",
  "busybox sh -c evil",
  "busybox ls",
  "toybox ls",
  "xargs ls",
  "echo evil | xargs",
  "echo evil | sh",
  "find . -exec evil ;",
  "find . -delete",
  "sh -c ls",
  "sh -c 'ls; evil'",
  "bash -lc ls",
  "zsh -c ls",
  "nohup ls",
  "nice ls",
  "timeout 5 ls",
  "setsid ls",
  "stdbuf -o0 ls",
  "sudo ls",
  "time ls",
  "watch ls",
  "ssh host ls",
  "git status",
  "python3 -c x",
  "perl -e x",
  "node -e x",
  "awk 'BEGIN{system(\"evil\")}'",
  "sed 1e",
  "harmless -c evil",
  "./bin/harmless -c evil",
  // the shell itself
  "eval evil",
  "exec evil",
  "command evil",
  "builtin eval evil",
  ". ./evil",
  "source evil",
  "trap evil EXIT",
  "alias ls=evil",
  "cd bin",
  "cd /tmp && ls",
  "export PATH=.",
  "ls() { evil; }",
  "function ls { evil; }",
  "set -x",
  "enable -f x",
  "hash -p evil ls",
  // keywords, groups, assignments
  "if ls; then evil; fi",
  "for x in evil; do $x; done",
  "while ls; do evil; done",
  "case x in x) evil;; esac",
  "(evil)",
  "{ evil; }",
  "! evil",
  "[[ -e x ]]",
  "A=1 ls",
  "PATH=. ls",
  "LD_PRELOAD=./x ls",
  "IFS=x ls",
  "A=1 evil",
  "coproc evil",
  // redirection
  "ls > bin/ls",
  "ls >> x",
  "ls < x",
  "ls 2> x",
  "ls &> x",
  "ls >& x",
  "echo evil >| x",
  "cat 0<<E\nx\nE",
  // look-alikes
  "./ls",
  join(folder, "ls"),
  "../bin/evil",
  "ls\u00a0",
  "l\u200bs",
  "\u006c\u0455",
  "LS",
  "bin/../ls",
  "=ls",
  "%1",
  "ls # x\nevil",
  "#\nevil",
  "ls 'unfinished",
  'ls "unfinished',
  "ls \\",
];

test.each(BYPASSES)("not covered by a list of other programs: %j", (line) => {
  expect(verdict(line, HONEST)).toBe("deny");
});

test("bare names and wildcards cover no shell, interpreter or wrapper", () => {
  for (const name of PROGRAMS.filter((one) => !["ls", "echo", "cat", "git", "evil"].includes(one))) {
    expect(verdict(`${name} x`, [`${bin}/*`, "/**", "*", name, "~/bin/*"]), name).toBe("deny");
  }
  expect(verdict("harmless -c evil", [`${bin}/*`]), "a link to a shell").toBe("deny");
});

test("always never stores a shell or a wrapper, nor anything of a line that was not understood", () => {
  for (const line of ["sh -c ls", "env ls", "busybox ls", "xargs ls", "harmless -c ls", "ls > x", "ls $(evil)", "eval ls", "nohup evil"])
    expect(
      rememberable(plan(line), { workspace: folder, home: folder }).filter(({ kind }) => kind === "rule"),
      line,
    ).toEqual([]);
});
