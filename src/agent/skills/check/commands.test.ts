import { expect, test } from "vitest";
import { fencedPrograms, shellPrograms } from "./commands.ts";

const programs = (script: string): string[] => shellPrograms(script).map(({ program }) => program);

test.each<[string, string[]]>([
  ["ls -l", ["ls"]],
  ["a | b && c || d; e", ["a", "b", "c", "d", "e"]],
  ["FOO=1 BAR=2 run", ["run"]],
  ["FOO=1", []],
  ["sudo -n apt-get install", ["sudo", "apt-get"]],
  ["env A=1 prog", ["env", "prog"]],
  ["echo 'x | y; z' \"p && q\"", ["echo"]],
  ['echo "$(inner one) and more"', ["inner", "echo"]],
  ["x=$((1 + 2))", []],
  ["if test -f a; then b; else c; fi", ["test", "b", "c"]],
  ["for x in a b; do run $x; done", ["run"]],
  ["while read line; do run; done", ["read", "run"]],
  ["case $1 in\n  a | b) run ;;\n  *) other; exit 2 ;;\nesac", ["run", "other", "exit"]],
  ["cat <<EOF\nnot a command\nEOF\nnext", ["cat", "next"]],
  ["long \\\n  --flag", ["long"]],
  ["# only a comment", []],
  ["cmd # and a comment", ["cmd"]],
  ["go() {\n  inner\n}\ngo", ["inner"]],
  ["cmd > file 2>&1", ["cmd"]],
  ["$ prompt-style", ["prompt-style"]],
  ['"$VAR/bin/x" a', ["$VAR/bin/x"]],
])("%j starts %j", (script, expected) => expect(programs(script)).toEqual(expected));

test("only shell blocks of a text count, with their lines", () => {
  const text = "# a\n\n```sh\none\ntwo\n```\n\n```json\n{}\n```\n\n```\nplain\n```\n~~~bash\nthree\n~~~\n";
  expect(fencedPrograms(text)).toEqual([
    { program: "one", line: 4 },
    { program: "two", line: 5 },
    { program: "three", line: 16 },
  ]);
});
