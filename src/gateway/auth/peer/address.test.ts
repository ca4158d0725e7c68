import * as fc from "fast-check";
import { isIP } from "node:net";
import { expect, test } from "vitest";
import { inRange, isLoopback, parseAddress, parseRange } from "./address.ts";

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:127.0.0.1", "127.0.0.1"],
  ["::FFFF:7f00:1", "127.0.0.1"],
  ["0:0:0:0:0:ffff:127.0.0.1", "127.0.0.1"],
  ["[::1]:443", "::1"],
  ["0:0:0:0:0:0:0:1", "::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["[fe80::1%25en0]", "fe80::1"],
  ["2001:DB8::0:1", "2001:db8::1"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
  ["10.0.0.1:8080", "10.0.0.1"],
  [" 10.0.0.1 ", "10.0.0.1"],
  ["::", "::"],
])("%s is written %s", (text, expected) => {
  expect(parseAddress(text)?.text).toBe(expected);
});

test.each([
  "",
  "localhost",
  "127.1",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "256.0.0.1",
  "1.2.3.4.5",
  "1:2:3",
  ":::",
  "1::2::3",
  "12345::",
  "::1.2.3",
  "127.0.0.1, 10.0.0.1",
])("%j is no address", (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

test("every address that the platform takes is read, and its text means the same again", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const address = parseAddress(text)!;
      expect(isIP(address.text)).toBe(address.family);
      expect(parseAddress(address.text)).toEqual(address);
    }),
  );
});

test("text that is no address to the platform is none here", () => {
  fc.assert(fc.property(fc.stringMatching(/^[0-9a-f:.]{1,20}$/), (text) => isIP(text) !== 0 || /^[\d.]+:\d+$/.test(text) || parseAddress(text) === undefined));
});

test.each([
  ["10.1.2.3", "10.0.0.0/8", true],
  ["11.1.2.3", "10.0.0.0/8", false],
  ["192.168.1.127", "192.168.1.0/25", true],
  ["192.168.1.128", "192.168.1.0/25", false],
  ["10.0.0.1", "10.0.0.1", true],
  ["10.0.0.2", "10.0.0.1", false],
  ["8.8.8.8", "0.0.0.0/0", true],
  ["::1", "0.0.0.0/0", false],
  ["::ffff:10.1.2.3", "10.0.0.0/8", true],
  ["10.1.2.3", "::ffff:10.0.0.0/104", true],
  ["11.1.2.3", "::ffff:10.0.0.0/104", false],
  ["2001:db8:1::5", "2001:db8::/32", true],
  ["2001:db9::5", "2001:db8::/32", false],
  ["fd00::1", "fd00::/127", true],
  ["fd00::2", "fd00::/127", false],
])("%s in %s: %s", (address, range, expected) => {
  expect(inRange(parseAddress(address)!, parseRange(range)!)).toBe(expected);
});

test.each(["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.0/x", "nginx", "::/129", "/8", "::ffff:10.0.0.0/8"])("%j is no range", (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test("one subscriber is one network: an IPv4 address, or the /64 of an IPv6 one", () => {
  const network = (text: string): string => parseAddress(text)!.network;
  expect(network("::ffff:10.0.0.1")).toBe(network("10.0.0.1"));
  expect(network("2001:db8::1")).toBe(network("2001:db8::ffff:ffff:ffff:ffff"));
  expect(network("2001:db8::1")).not.toBe(network("2001:db8:0:1::1"));
  expect(network("10.0.0.1")).not.toBe(network("10.0.0.2"));
});

test.each([
  ["127.0.0.1", true],
  ["127.255.0.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::", false],
  ["0.0.0.0", false],
  ["128.0.0.1", false],
  ["::2", false],
])("%s is this machine: %s", (text, expected) => {
  expect(isLoopback(parseAddress(text)!)).toBe(expected);
});
