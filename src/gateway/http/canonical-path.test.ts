import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalTarget, MAX_TARGET_LENGTH } from "./canonical-path.ts";

const pathOf = (target: string): string | undefined => {
  const read = canonicalTarget(target);
  return read.ok ? read.path : undefined;
};

test("plain paths are what they are, escapes are decoded once, the query stays apart", () => {
  expect(pathOf("/")).toBe("/");
  expect(pathOf("/v1/models/openclaw%3Amain")).toBe("/v1/models/openclaw:main");
  expect(pathOf("/%76%31/models")).toBe("/v1/models");
  expect(pathOf("/a%20b/%C5%BC")).toBe("/a b/ż");
  expect(pathOf("/health/")).toBe("/health/");
  const read = canonicalTarget("/x?a=1&b=%2F..%2F&c=?");
  expect(read).toMatchObject({ ok: true, path: "/x" });
  expect(read.ok && [...read.query]).toEqual([
    ["a", "1"],
    ["b", "/../"],
    ["c", "?"],
  ]);
});

test.each([
  ["dot segments", ["/..", "/../x", "/a/..", "/a/../b", "/.", "/./a", "/a/."]],
  ["escaped dot segments", ["/%2e%2e/x", "/a/%2E%2e", "/.%2e/x", "/%2e", "/a/%2e/b"]],
  ["escaped slashes and backslashes", ["/a%2fb", "/a%2Fb", "/..%2f..%2fetc", "/a%5cb", "/a\\b", "/\\evil"]],
  ["doubled slashes", ["//", "//evil.example/x", "/a//b", "//health"]],
  ["NUL and control characters", ["/a%00", "/a%0d%0aSet-Cookie:x", "/a%09b", "/a\tb", "/a%7f", "/a%C2%85"]],
  ["double encoding", ["/a%252fb", "/%252e%252e/x", "/%2576%2531", "/a%25%32%66"]],
  ["bytes that are not UTF-8, overlong forms included", ["/%c0%af", "/%c0%ae%c0%ae/x", "/%ff", "/%ed%a0%80", "/%e0%80%af"]],
  ["broken escapes", ["/%", "/%2", "/%zz", "/%u002f"]],
  ["escaped query and fragment marks", ["/health%3Fx", "/a%23b", "/a#b"]],
  ["targets that are not a path", ["", "*", "health", "http://127.0.0.1/health", "https:health", "evil.example:443", "?x"]],
  ["look-alikes that turn into delimiters", ["/%EF%BC%8F%EF%BC%8E%EF%BC%8E/x", "/%E2%80%A5/x", "/a%EF%BC%8Fb", "/a%EF%BC%BCb"]],
  ["raw characters that need escaping", ["/a b", "/ż", '/a"b', "/<x>", "/a|b", "/{a}", "/a^b", "/a`b"]],
])("%s are refused", (_name, targets) => {
  for (const target of targets) expect([target, canonicalTarget(target).ok]).toEqual([target, false]);
});

test("an overlong target is refused as such", () => {
  expect(canonicalTarget(`/${"a".repeat(MAX_TARGET_LENGTH - 1)}`)).toMatchObject({ ok: true });
  expect(canonicalTarget(`/${"a".repeat(MAX_TARGET_LENGTH)}`)).toMatchObject({ ok: false, status: 414 });
});

const NASTY = "/ // . .. %2e %2E %2f %5c \\ %00 %25 %252e %252f %c0%ae %ef%bc%8f ? # ; : @ %3f %23 %20 %09 % %7 %e2%80%a5 %C5%BC ~ + & = *".split(" ");
const token = fc.constantFrom(...NASTY, "a", "v1", "models", "health", "%76", "hooks", "http:", "x".repeat(50));
const target = fc.oneof(
  fc.array(token, { maxLength: 12 }).map((parts) => `/${parts.join("")}`),
  fc.array(token, { maxLength: 6 }).map((parts) => parts.join("")),
  fc.string({ maxLength: 40 }),
);

test("what is accepted has one reading: decoding it again, normalising it and a URL parser all agree", () => {
  let accepted = 0;
  fc.assert(
    fc.property(target, (raw) => {
      const read = canonicalTarget(raw);
      if (!read.ok) return;
      accepted += 1;
      const { path } = read;
      const parsed = new URL(`http://host${raw}`);
      expect(parsed.host).toBe("host");
      expect(decodeURIComponent(parsed.pathname)).toBe(path);
      expect(path.split("/").slice(1)).not.toContain("..");
      expect(path.split("/").slice(1)).not.toContain(".");
      expect(path).not.toMatch(/\/\/|\\|\0|%[0-9a-f]{2}/i);
      expect(path.normalize("NFKC").split("/").length).toBe(path.split("/").length);
      const again = canonicalTarget(path.split("/").map(encodeURIComponent).join("/"));
      expect(again).toMatchObject({ ok: true, path });
    }),
    { numRuns: 5000, seed: 20_261_115 },
  );
  expect(accepted).toBeGreaterThan(300);
});
