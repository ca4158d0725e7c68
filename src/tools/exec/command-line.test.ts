import { describe, expect, test } from "vitest";
import { parseCommandLine } from "./command-line.ts";

const words = (line: string) => parseCommandLine(line)?.map(({ argv }) => argv);

test("quotes, escapes and continued lines make words as the shell does", () => {
  expect(words(`a 'b c' "d \\" \\x \\\\" e\\ f g''h '' i\\\nj`)).toEqual([["a", "b c", 'd " \\x \\', "e f", "gh", "", "ij"]]);
  expect(words("HEAD~1 x{} a=b file~ -n@{}")).toEqual([["HEAD~1", "x{}", "a=b", "file~", "-n@{}"]]);
});

test("operators split a line; in quotes they do not", () => {
  expect(parseCommandLine("a 1&&b 2||c;d|e '&&' \";\"")).toEqual([
    { joint: null, argv: ["a", "1"] },
    { joint: "&&", argv: ["b", "2"] },
    { joint: "||", argv: ["c"] },
    { joint: ";", argv: ["d"] },
    { joint: "|", argv: ["e", "&&", ";"] },
  ]);
});

test("a literal here-document is the input of its segment", () => {
  expect(parseCommandLine("cat <<'END' -n | wc -l\n$HOME `x`\n'y\nEND\n")).toEqual([
    { joint: null, argv: ["cat", "-n"], input: "$HOME `x`\n'y\n" },
    { joint: "|", argv: ["wc", "-l"] },
  ]);
  expect(parseCommandLine("cat <<-END\n\t\tplain\n\tEND")).toEqual([{ joint: null, argv: ["cat"], input: "plain\n" }]);
});

describe("what only the shell knows is not understood", () => {
  test.each([
    ["expansion", ["echo $HOME", 'echo "$HOME"', "echo $(id)", "echo `id`", 'echo "`id`"', "echo $'x'", "$x", "echo a$"]],
    ["patterns", ["ls *", "ls ?", "ls [ab]", "echo {a,b}", "echo {1..3}", "ls ~", "ls ~root/x", "make P=~/x", "/bin/l?"]],
    ["redirection", ["a > b", "a < b", "a >> b", "a 2>&1", "a <<< b", "a <(b)", "a >| b", "a 0<<E\nE"]],
    ["grouping and background", ["(a)", "{ a; }", "a & b", "a &", "a |& b", "a;;b", "! a", "a()"]],
    ["keywords and assignments", ["if a", "while a", "for x", "A=1 b", "A+=1 b", "A[0]=1 b", "time a", "[[ a ]]", "function f"]],
    ["several lines", ["a\nb", "a &&\nb", "cat <<E\nx\nE\nb"]],
    ["comments", ["a # b", "# a"]],
    ["unfinished", ["a 'b", 'a "b', "a \\", "a &&", "| a", "a ;", "", "  ", "cat <<E\nx", "cat <<E"]],
    ["living here-documents", ["cat <<E\n$(id)\nE", "cat <<E\n`id`\nE", "cat <<E\n\\\nE\nE", "cat <<A <<B\nA\nB"]],
    ["odd words", ["'' a", "a\0b", "=ls", "%1"]],
  ])("%s", (_, lines) => {
    for (const line of lines) expect(parseCommandLine(line), JSON.stringify(line)).toBeUndefined();
  });
});
