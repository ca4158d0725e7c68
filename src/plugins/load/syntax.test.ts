import { stripTypeScriptTypes } from "node:module";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { withoutRuntimeTypeScript } from "./syntax.ts";
import { tokensOf } from "./tokens.ts";

/** What a TypeScript function with this body answers. */
const value = (body: string): unknown =>
  JSON.parse(
    runInNewContext(`(${stripTypeScriptTypes(`() => JSON.stringify((() => { ${withoutRuntimeTypeScript(body)} })())`)})()`, {
      require: (name: string) => name,
    }) as string,
  );

describe("TypeScript that means something at run time", () => {
  test("enums: counted, given, of text, computed from earlier members, merged and const", () => {
    expect(value("enum A { X, Y = 5, Z, 'k-1' = 's', W = X | Y, L = `a${1 + 1}`.length, default = 9 } return A;")).toEqual({
      0: "X",
      2: "L",
      5: "W",
      6: "Z",
      9: "default",
      X: 0,
      Y: 5,
      Z: 6,
      "k-1": "s",
      W: 5,
      L: 2,
      default: 9,
    });
    expect(value("const enum B { One = 'one', Two = -1 } return [B.One, B.Two, B[-1]];")).toEqual(["one", -1, "Two"]);
    expect(value("enum C { A = 1 } enum C { B = 2 } return C;")).toEqual({ 1: "A", 2: "B", A: 1, B: 2 });
    expect(value("enum D { A = f(1, 2), B } function f(a: number, b: number) { return a + b; } return [D.A, D.B];")).toEqual([3, 4]);
  });

  test("parameter properties, also after super and beside other parameters", () => {
    expect(
      value(
        "class P { constructor(private readonly x: Map<string, number>, public y?: number, readonly z = 3, q = (a: number, b: number) => a + b) { this.w = q(1, 2); } w: number; } return Object.keys(new P(new Map(), 2));",
      ),
    ).toEqual(["w", "x", "y", "z"]);
    expect(
      value(
        "class B { b = 1; } class P extends B { constructor(protected override x: string) { const s = 1; super(); this.t = this.x + s; } t; } const p = new P('x'); return p.t;",
      ),
    ).toBe("x1");
  });

  test("namespaces: functions, values that change, nested ones and types", () => {
    expect(
      value(
        "namespace N { export type T = number; const hidden = 2; export const a: T = hidden; export let n = 0; export function up(): void { n += 1; } export namespace Inner { export const deep = a; } } N.up(); return [N.a, N.n, N.Inner.deep, Object.keys(N)];",
      ),
    ).toEqual([2, 1, 2, ["a", "n", "up", "Inner"]]);
  });

  test("import and export with an equals sign", () => {
    expect(value("import fs = require('fs'); const module = { exports: 0 }; export = fs; return module;")).toEqual({ exports: "fs" });
  });

  test("no line moves", () => {
    const source =
      "enum A {\n  X, // first\n  Y = 2,\n}\nclass P {\n  constructor(\n    private a: number,\n    readonly b: string,\n  ) {}\n}\nconst last = 1;";
    expect(
      withoutRuntimeTypeScript(source)
        .split("\n")
        .map((line) => line.includes("last")),
    ).toEqual(source.split("\n").map((line) => line.includes("last")));
  });
});

test("patterns, divisions, templates and comments are distinguished", () => {
  const words = (source: string): string[] =>
    tokensOf(source)
      .filter(({ kind }) => kind === "word")
      .map((token) => token.value);
  expect(words("a / b / c")).toEqual(["a", "b", "c"]);
  expect(words("x = /['\"`]b/g; y")).toEqual(["x", "y"]);
  expect(words("if (a) /b'/.test(c); (d) / e")).toEqual(["if", "a", "test", "c", "d", "e"]);
  expect(words('`a ${b + `c ${d} e`} f` // g\n/* h */ \'i\' "j\\"k"')).toEqual(["b", "d"]);
  expect(words("[1] / a; ({}) / b; return /[/]c/")).toEqual(["1", "a", "b", "return"]);
});
