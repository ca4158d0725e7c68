import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coloured, type Carry } from "./colours.ts";

function code(text: string, language: string): string {
  let carry: Carry = "";
  return text
    .split("\n")
    .map((line) => {
      const result = coloured(line, language, carry);
      carry = result.carry;
      return result.pieces.map(({ kind, text: piece }) => (kind === "plain" ? piece : `<${kind}:${piece}>`)).join("");
    })
    .join("\n");
}

describe("colours of code", () => {
  it("tell keywords, strings, numbers and comments apart", () => {
    expect(code('const a = "x"; // y', "ts")).toBe('<keyword:const> a = <string:"x">; <comment:// y>');
    expect(code("def f(x): return 0x1F # no", "python")).toBe("<keyword:def> f(x): <keyword:return> <number:0x1F> <comment:# no>");
    expect(code('echo "$HOME" # home', "bash")).toBe('<keyword:echo> <string:"$HOME"> <comment:# home>');
    expect(code("SELECT 1 FROM t -- all", "sql")).toBe("<keyword:SELECT> <number:1> <keyword:FROM> t <comment:-- all>");
    expect(code('{"a": true, "b": 1.5}', "json")).toBe('{<string:"a">: <keyword:true>, <string:"b">: <number:1.5>}');
  });

  it("go on over lines where comments and strings do", () => {
    expect(code("/* one\ntwo */ let a", "js")).toBe("<comment:/* one>\n<comment:two */> <keyword:let> a");
    expect(code('"""doc\nmore""" + 1', "py")).toBe('<string:"""doc>\n<string:more"""> + <number:1>');
  });

  it("are not led astray by escapes, addresses and apostrophes", () => {
    expect(code('"a\\"b" + 1', "ts")).toBe('<string:"a\\"b"> + <number:1>');
    expect(code("url: https://example.com/a", "yaml")).toBe("url: https://example.com/a");
    expect(code("don't", "rust")).toBe("don't");
  });

  it("mark what a diff adds and removes", () => {
    expect(code("@@ -1 +1 @@\n-old\n+new\n same", "diff")).toBe("<mark-line:@@ -1 +1 @@>\n<removed:-old>\n<added:+new>\n same");
  });

  it("leave languages that are not known as they are", () => {
    expect(code("const x = 1", "brainfuck")).toBe("const x = 1");
  });

  it("lose no character", () => {
    const language = fc.constantFrom("ts", "py", "sh", "json", "sql", "html", "css", "diff", "");
    const line = fc.string({ unit: fc.constantFrom("a", "1", '"', "'", "`", "\\", "/", "*", "#", "-", " ", "<", ">", "!", "if", "€") });
    fc.assert(
      fc.property(fc.array(line), language, (lines, name) => {
        let carry: Carry = "";
        for (const text of lines) {
          const result = coloured(text, name, carry);
          carry = result.carry;
          expect(result.pieces.map((piece) => piece.text).join("")).toBe(text);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
