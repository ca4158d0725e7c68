import { expect, test } from "vitest";
import { seededRandom } from "./random.ts";
import { createSecretSearch, isUnmistakable, maskValue } from "./secret-search.ts";

const SECRET = "canary-Zq7Lx2Vb9Tn4Rw8Ks1";

test("secrets are masked anywhere in a text, several at once, the longer of two overlapping", () => {
  const search = createSecretSearch();
  for (const secret of [SECRET, `${SECRET}-and-more`, "hunter2-hunter2"]) search.add(secret);
  expect(search.mask(`a ${SECRET}b${SECRET}-and-more hunter2-hunter2`)).toBe("a ***b*** ***");
  expect(search.mask(SECRET)).toBe("***");
  const plain = "nothing of the kind ".repeat(100);
  expect(search.mask(plain)).toBe(plain);
  expect(search.mask(`${SECRET.slice(0, -1)} ${SECRET.slice(1)}`)).toBe(`${SECRET.slice(0, -1)} ${SECRET.slice(1)}`);
});

test("encoded forms are masked, too: base64 at any offset, hexadecimal, in a URL, in JSON", () => {
  const search = createSecretSearch();
  const secret = `pa"ss wörd/${SECRET}+=`;
  search.add(secret);
  const inner = Buffer.from(SECRET).toString("base64").slice(8, 20);
  for (const before of ["", "x", "xy", "xyz"]) {
    const text = Buffer.from(`${before}${secret}${before}`).toString("base64");
    expect(search.mask(text)).not.toContain(inner);
    expect(search.mask(text), text).toContain("***");
  }
  for (const text of [encodeURIComponent(secret), JSON.stringify({ secret }), Buffer.from(secret).toString("hex"), Buffer.from(secret).toString("base64url")])
    expect(search.mask(text), text).toContain("***");
});

test("lines of a private key are masked one by one", () => {
  const search = createSecretSearch();
  const lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"];
  search.add(`-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`);
  expect(search.mask(`  1: ${lines[1]}`)).toBe("  1: ***");
});

test("chunks of any size give the same text, and no chunk shows a part of a secret", () => {
  const random = seededRandom(7);
  const search = createSecretSearch();
  search.add(SECRET);
  search.add("another-Secret-0123456789");
  search.add(`${SECRET}-and-more`);
  search.add("1-begins-Where-another-ends-9");
  const text = `can canary-Zq7 ${SECRET} cc${SECRET}anothe another-Secret-0123456789 ${SECRET}-and-more ${SECRET}-and ${SECRET}1-begins-Where-another-ends-9 canary-`;
  for (let round = 0; round < 200; round += 1) {
    const stream = search.stream();
    let shown = "";
    for (let at = 0; at < text.length;) {
      const size = 1 + Math.floor(random.float() * 12);
      shown += stream.push(text.slice(at, at + size));
      expect(shown).not.toContain(SECRET.slice(0, 16));
      at += size;
    }
    expect(shown + stream.end()).toBe(search.mask(text));
  }
});

test("only values that nobody writes by chance are searched for", () => {
  const ordinary = [
    "",
    "short1!",
    "password",
    "localhost",
    "changeme",
    "12345678",
    "2026-11-16 09:00",
    "/home/me/project",
    "~/notes.txt",
    "./run-it-now.sh",
    "aaaaaaaaaaaaaaaaaaaaaaa",
  ];
  for (const value of [...ordinary, "https://api.example.com/v1", "wss://gw.example.com", "Telegram", "some words in a row", "main-session"])
    expect(isUnmistakable(value), value).toBe(false);
  for (const value of [
    SECRET,
    "hunter2-X",
    "sk-abc123DEF",
    "https://me:pass@example.com",
    "https://hooks.example.com/T0/abcdefghij0123456789xyz",
    "0123456789abcdef0123",
  ])
    expect(isUnmistakable(value), value).toBe(true);
});

test("values are copied only where a text in them is masked", () => {
  const search = createSecretSearch();
  search.add(SECRET);
  const value = { a: ["x", { b: `is ${SECRET}` }], [SECRET]: 1, c: { d: 2 } };
  const masked = maskValue(value, search.mask);
  expect(masked).toEqual({ a: ["x", { b: "is ***" }], "***": 1, c: { d: 2 } });
  expect(masked.c).toBe(value.c);
  expect(maskValue(value.c, search.mask)).toBe(value.c);
});
