import { expect, test } from "vitest";
import { acceptedEncodings, isKnown } from "./negotiation.ts";

test.each([
  [undefined, ["identity"]],
  ["", ["identity"]],
  ["gzip, deflate, br, zstd", ["br", "gzip", "identity"]],
  ["gzip", ["gzip", "identity"]],
  ["x-gzip", ["gzip", "identity"]],
  ["GZIP;Q=1, Br", ["br", "gzip", "identity"]],
  ["br;q=0.5, gzip;q=0.8", ["gzip", "br", "identity"]],
  ["br;q=0, gzip", ["gzip", "identity"]],
  ["*", ["br", "gzip", "identity"]],
  ["*;q=0, gzip", ["gzip", "identity"]],
  ["identity, *;q=0", ["identity"]],
  ["br;q=nonsense, gzip;q=2", ["identity"]],
  ["brotli, gzipped", ["identity"]],
  [`${"br;q=0,".repeat(1000)}gzip`, ["gzip", "identity"]],
] as const)("Accept-Encoding %j", (header, expected) => {
  expect(acceptedEncodings(header)).toEqual(expected);
});

test("a version is known when it is in the list, weak or strong", () => {
  for (const header of ['"a"', 'W/"a"', '"x", "a"', "*", ' "x" ,W/"a" ']) expect([header, isKnown(header, '"a"')]).toEqual([header, true]);
  for (const header of [undefined, "", '"b"', "a", '"a', '"x*"']) expect([header, isKnown(header, '"a"')]).toEqual([header, false]);
});
