import * as fc from "fast-check";

const escaped = (char: string): fc.Arbitrary<string> => {
  const hex = char.charCodeAt(0).toString(16).padStart(2, "0");
  return fc.constantFrom(`%${hex}`, `%${hex.toUpperCase()}`, `%25${hex}`, `%u00${hex}`, `%c0%${hex}`, char.toUpperCase(), `${char}\u0300`);
};
/** Ways to write a path in which most characters stand for themselves. */
export const spelled = (path: string): fc.Arbitrary<string> =>
  fc
    .tuple(...path.split("").map((char) => fc.oneof({ weight: 25, arbitrary: fc.constant(char) }, { weight: 1, arbitrary: escaped(char) })))
    .map((chars) => chars.join(""));
/** What may stand before a path without changing where a careless reader ends up. */
export const before = fc.constantFrom(
  "",
  "",
  "",
  "/.",
  "/health/..",
  "/healthz/%2e%2e",
  "/x/..%2f",
  "//127.0.0.1",
  "http://127.0.0.1",
  "/;",
  "/%2e",
  "/\\",
  "/healthz;/..",
);
/** The same behind it. */
export const behind = fc.constantFrom(
  "",
  "",
  "",
  "/",
  "//",
  "/.",
  "/..",
  "/../healthz",
  "?x=/healthz",
  "#/healthz",
  ";/healthz",
  "%00",
  "%3f",
  "%23",
  ".json",
  "\t",
  "/%2e%2e/readyz",
);
