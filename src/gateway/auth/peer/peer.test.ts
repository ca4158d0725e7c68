import { expect, test } from "vitest";
import { parseTrustedProxies, peerOf, type Peer } from "./peer.ts";

interface Case {
  readonly what: string;
  readonly from: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly proxies?: readonly string[];
  readonly expected: Partial<Peer>;
}

const PROXIES = ["10.0.0.0/24", "fd00::/64"];

const cases: readonly Case[] = [
  { what: "this machine by its address", from: "127.0.0.1", expected: { ip: "127.0.0.1", local: true, forwarded: false } },
  { what: "IPv6 loopback", from: "::1", headers: { host: "[::1]:18789" }, expected: { ip: "::1", hostName: "::1", local: true } },
  { what: "IPv4 written as IPv6", from: "::ffff:127.0.0.1", headers: { host: "LOCALHOST" }, expected: { ip: "127.0.0.1", local: true } },
  { what: "a Tailscale name of this machine", from: "127.0.0.1", headers: { host: "box.tail1234.ts.net" }, expected: { local: true } },
  { what: "a name that only ends like one", from: "127.0.0.1", headers: { host: "evilts.net" }, expected: { local: false } },
  { what: "another name from this machine", from: "127.0.0.1", headers: { host: "evil.example" }, expected: { local: false } },
  { what: "localhost as a prefix", from: "127.0.0.1", headers: { host: "localhost.evil.example" }, expected: { local: false } },
  { what: "no Host at all", from: "127.0.0.1", headers: { host: "" }, expected: { local: false, hostName: "" } },
  {
    what: "another machine that says localhost",
    from: "203.0.113.9",
    headers: { host: "localhost" },
    expected: { ip: "203.0.113.9", local: false },
  },
  { what: "no address", from: undefined, expected: { ip: "unknown", local: false, budgetKey: "unknown" } },
  { what: "IPv6 with a zone", from: "fe80::1%eth0", expected: { ip: "fe80::1", local: false } },

  ...["x-forwarded-for", "x-real-ip", "x-forwarded-host", "x-forwarded-proto", "forwarded", "cf-connecting-ip"].map((name) => ({
    what: `${name} from this machine, which is no trusted proxy`,
    from: "127.0.0.1",
    headers: { [name]: "127.0.0.1" },
    expected: { ip: "127.0.0.1", local: false, forwarded: true },
  })),
  ...["x-forwarded-for", "x-real-ip"].map((name) => ({
    what: `${name} that claims loopback from a stranger`,
    from: "203.0.113.9",
    headers: { [name]: "127.0.0.1" },
    proxies: PROXIES,
    expected: { ip: "203.0.113.9", local: false, budgetKey: "203.0.113.9" },
  })),

  {
    what: "a trusted proxy names its client",
    from: "10.0.0.5",
    headers: { "x-forwarded-for": "198.51.100.7" },
    proxies: PROXIES,
    expected: { ip: "198.51.100.7", trustedProxy: true, local: false },
  },
  {
    what: "a trusted proxy over IPv6",
    from: "fd00::5",
    headers: { "x-forwarded-for": "198.51.100.7" },
    proxies: PROXIES,
    expected: { ip: "198.51.100.7", trustedProxy: true },
  },
  { what: "x-real-ip of a trusted proxy", from: "10.0.0.5", headers: { "x-real-ip": "198.51.100.7" }, proxies: PROXIES, expected: { ip: "198.51.100.7" } },
  {
    what: "what the client put in front is its own claim",
    from: "10.0.0.5",
    headers: { "x-forwarded-for": "127.0.0.1, 198.51.100.7" },
    proxies: PROXIES,
    expected: { ip: "198.51.100.7", local: false },
  },
  {
    what: "a chain of trusted proxies",
    from: "10.0.0.5",
    headers: { "x-forwarded-for": "1.1.1.1, 198.51.100.7, 10.0.0.9" },
    proxies: PROXIES,
    expected: { ip: "198.51.100.7" },
  },
  { what: "only proxies in the chain", from: "10.0.0.5", headers: { "x-forwarded-for": "10.0.0.7, 10.0.0.9" }, proxies: PROXIES, expected: { ip: "10.0.0.7" } },
  {
    what: "a trusted proxy that names no address",
    from: "10.0.0.5",
    headers: { "x-forwarded-for": "unknown" },
    proxies: PROXIES,
    expected: { ip: "10.0.0.5", local: false },
  },
  {
    what: "junk nearest to the proxy is not skipped",
    from: "10.0.0.5",
    headers: { "x-forwarded-for": "127.0.0.1, junk" },
    proxies: PROXIES,
    expected: { ip: "10.0.0.5", local: false },
  },
  {
    what: "a local proxy with a local client",
    from: "127.0.0.1",
    headers: { "x-forwarded-for": "127.0.0.1" },
    proxies: ["127.0.0.1"],
    expected: { local: true },
  },
  {
    what: "a local proxy with a remote client",
    from: "127.0.0.1",
    headers: { "x-forwarded-for": "198.51.100.7" },
    proxies: ["127.0.0.1"],
    expected: { ip: "198.51.100.7", local: false },
  },
  {
    what: "a local proxy that names nobody readable",
    from: "127.0.0.1",
    headers: { "x-forwarded-for": "" },
    proxies: ["127.0.0.1"],
    expected: { local: false },
  },
  {
    what: "a client of a trusted proxy with a port",
    from: "10.0.0.5",
    headers: { "x-forwarded-for": "[2001:db8::7]:4711" },
    proxies: PROXIES,
    expected: { ip: "2001:db8::7", budgetKey: "2001:db8::/64" },
  },
  { what: "a direct call where this machine is a trusted proxy", from: "127.0.0.1", proxies: ["127.0.0.1"], expected: { ip: "127.0.0.1", local: true } },
];

test.each(cases)("$what", ({ from, headers, proxies = [], expected }) => {
  const request = { socket: { remoteAddress: from }, headers: { host: "127.0.0.1:18789", ...headers } };
  expect(peerOf(request, parseTrustedProxies(proxies))).toMatchObject(expected);
});

test("entries of trustedProxies that are no address are reported and trust nobody", () => {
  const bad: string[] = [];
  expect(parseTrustedProxies(["nginx", "10.0.0.0/99", "10.0.0.1"], (entry) => bad.push(entry))).toHaveLength(1);
  expect(bad).toEqual(["nginx", "10.0.0.0/99"]);
});
