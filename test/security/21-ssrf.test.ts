import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { AddressLookup } from "../../src/base/guarded-fetch.ts";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { webFetchTool } from "../../src/tools/builtin/web/fetch.ts";
import { createMarkUntrusted, type Tool, type ToolOutcome } from "../../src/tools/index.ts";
import { startLoopbackServer, type LoopbackServer } from "../../src/base/loopback-server.fixture.ts";

/** A request that gets here was led to a private address. */
let canary: LoopbackServer;
let canary6: LoopbackServer | undefined;
/** A public site, as far as the tool knows, that sends its visitors on. */
let entry: LoopbackServer;
beforeAll(async () => {
  canary = await startLoopbackServer((_request, response) => response.end("the crown jewels"));
  canary6 = await startLoopbackServer((_request, response) => response.end("the crown jewels"), "::1").catch(() => undefined);
  entry = await startLoopbackServer((request, response) => {
    const { searchParams } = new URL(request.url!, "http://x");
    response.writeHead(Number(searchParams.get("status") ?? 302), { location: Buffer.from(searchParams.get("to") ?? "", "base64").toString("latin1") }).end();
  });
});
afterAll(async () => {
  for (const server of [canary, canary6, entry]) await server?.[Symbol.asyncDispose]();
});

const hits = (): number => canary.connections() + (canary6?.connections() ?? 0);

/** Refused, which is more than having failed. */
const REFUSED = /^Blocked|^Invalid URL/;

/** The tool of a fresh install, except that one name of the test is a trusted host. */
function webFetch(lookup?: AddressLookup, allowed: string[] = ["entry.example"]): Tool {
  // Whatever is taken for a name leads to the canary.
  const names: AddressLookup = lookup ?? (async () => [{ address: "127.0.0.1", family: 4 }]);
  const deps = { clock: systemClock, config: () => ({ tools: { web: { fetch: { cacheTtlMinutes: 0, timeoutSeconds: 5 } } } }), secret: () => undefined };
  const mark = createMarkUntrusted(createIds(systemRandom));
  return webFetchTool.create({ ...deps, mark, network: { policy: { allowedHostnames: allowed }, lookup: names } });
}

const context = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s", runId: "r", workspaceDir: "/nowhere", owner: false };
const fetchUrl = (tool: Tool, url: string): Promise<ToolOutcome> =>
  tool.run({ id: "c", params: { url }, signal: new AbortController().signal, update: () => undefined, context });

const octets = (address: string): number[] => address.split(".").map(Number);
const whole = (address: string): number => octets(address).reduce((sum, part) => sum * 256 + part, 0);
const hex = (value: number, width = 0): string => value.toString(16).padStart(width, "0");
const pairs = (address: string): string => {
  const [a, b, c, d] = octets(address) as [number, number, number, number];
  return `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
};

/** Ways to write an IPv4 address that some reader of addresses understands. */
function spellings(address: string): string[] {
  const [a, b, c, d] = octets(address) as [number, number, number, number];
  const number = whole(address);
  const wide = Array.from(address, (char) => (char === "." ? "．" : String.fromCodePoint(char.codePointAt(0)! + 0xfee0))).join("");
  const circled = Array.from(address, (char) => (char === "." ? "。" : char === "0" ? "⓪" : String.fromCodePoint(0x245f + Number(char)))).join("");
  return [
    [address, `${address}.`, String(number), `0x${hex(number)}`, `0${number.toString(8)}`, `0x${hex(number).toUpperCase()}`, `0X${hex(number)}`],
    [
      `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
      `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
      `000${a.toString(8)}.${b}.${c}.${d}`,
    ],
    [`${a}.${b * 65_536 + c * 256 + d}`, `${a}.${b}.${c * 256 + d}`, `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`],
    [wide, circled, `${a}%2e${b}%2e${c}%2e${d}`, `${a}。${b}。${c}。${d}`, `%3${String(a)[0]}${String(a).slice(1)}.${b}.${c}.${d}`],
    [`[::ffff:${address}]`, `[::ffff:${pairs(address)}]`, `[0:0:0:0:0:ffff:${pairs(address)}]`, `[::${address}]`, `[::${pairs(address)}]`],
    [`[64:ff9b::${address}]`, `[64:ff9b::${pairs(address)}]`, `[64:ff9b:1::${address}]`, `[2002:${pairs(address)}::]`, `[2002:${pairs(address)}::1]`],
    [`[2001:0:${pairs(address)}::]`, `[2a00::5efe:${address}]`, `[2a00::200:5efe:${address}]`, `[::ffff:0:${address}]`],
    [`user@${address}`, `public.example@${address}`, `public.example%40@${address}`, `:pw@${address}`],
  ].flat();
}

const NAMES = [
  ["localhost", "LOCALHOST", "localhost.", "LocalHost.", "a.localhost", "localhost.localdomain", "x.local", "printer.local.", "metadata.google.internal"],
  ["metadata.google.internal.", "db.internal", "ｌｏｃａｌｈｏｓｔ", "loc%61lhost", "localhost%00.example.com", "localhost\u0000.example.com", "ⓛocalhost"],
].flat();
const IPV6 = [
  ["[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0:1]", "[fe80::1]", "[fe80::1%25lo]", "[FEBF::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]"],
  ["[ff02::1]", "[::1%25eth0]", "[::ffff:0:0]"],
].flat();
const IPV4 = ["127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "169.254.169.254", "172.16.0.1", "192.168.1.1", "100.100.100.200", "168.63.129.16"];
const SCHEMES = [
  "file:///etc/passwd",
  "ftp://127.0.0.1/",
  "gopher://127.0.0.1/",
  "dict://127.0.0.1/",
  "javascript:alert(1)",
  "data:text/plain,x",
  "ws://127.0.0.1/",
];

/** At least 200, each once, with the canary's port where they could reach it. */
function forms(): string[] {
  const hosts = [...NAMES, ...IPV6, ...IPV4.flatMap(spellings)];
  const written = hosts.flatMap((host) => [`http://${host}:${canary.port}/`, ...(canary6 && host.includes(":") ? [`http://${host}:${canary6.port}/`] : [])]);
  const odd = ["http:127.0.0.1", "http:/127.0.0.1", "http:///127.0.0.1", "http:\\\\127.0.0.1", " http://127.0.0.1", "hTTp://127.0.0.1", "http://1\t2\n7.0.0.1"];
  return [...new Set([...written, ...odd.map((start) => `${start}:${canary.port}/`), ...SCHEMES])];
}

test("21: the canary can be reached at all, by a host that is trusted", async () => {
  const before = hits();
  const outcome = await fetchUrl(webFetch(), `http://entry.example:${canary.port}/`);
  expect([outcome.isError, hits() - before]).toEqual([false, 1]);
});

test("21: no way to write an address leads to a private place", async () => {
  const before = hits();
  const all = forms();
  expect(all.length).toBeGreaterThan(200);
  const tool = webFetch();
  for (const url of all)
    expect([url, (await fetchUrl(tool, url)).details]).toEqual([url, { status: "error", tool: "web_fetch", error: expect.stringMatching(REFUSED) }]);
  expect(hits()).toBe(before);
});

test("21: nor does a redirect, with any status, to any of them", async () => {
  const before = hits();
  const tool = webFetch();
  // Without two slashes it is a path of the site itself.
  const absolute = forms().filter((url) => !/^http:\/?\d/.test(url));
  for (const [index, url] of absolute.entries()) {
    const status = [301, 302, 303, 307, 308][index % 5]!;
    // What is no header value cannot be sent; a real server would have escaped it.
    const location = /^[ -~\t]*$/.test(url) ? url : encodeURI(url);
    const from = `http://entry.example:${entry.port}/?status=${status}&to=${encodeURIComponent(Buffer.from(location, "latin1").toString("base64"))}`;
    expect([url, (await fetchUrl(tool, from)).details]).toEqual([url, { status: "error", tool: "web_fetch", error: expect.stringMatching(REFUSED) }]);
  }
  expect(hits()).toBe(before);
});

test("21: nor a name that leads there, alone or among public addresses, now or at the second look", async () => {
  const before = hits();
  const inside = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "fe80::1", "fd00::1", "0.0.0.0", "64:ff9b::7f00:1", "nonsense", ""];
  const at = (address: string): { address: string; family: number } => ({ address, family: address.includes(":") ? 6 : 4 });
  for (const address of inside) {
    for (const answer of [[at(address)], [at("93.184.215.14"), at(address)], [at(address), at("93.184.215.14")]]) {
      const outcome = await fetchUrl(
        webFetch(async () => answer),
        `http://public.example:${canary.port}/`,
      );
      expect([answer, outcome.details]).toMatchObject([answer, { error: "Blocked: resolves to private/internal IP address" }]);
    }
  }
  expect(hits()).toBe(before);
});

test("21: a name is looked up once per hop, and that answer is the one that is used", async () => {
  const asked: string[] = [];
  const lookup: AddressLookup = async (host) => {
    asked.push(host);
    return [{ address: asked.length === 1 ? "127.0.0.1" : "10.255.255.1", family: 4 }];
  };
  const before = hits();
  const outcome = await fetchUrl(webFetch(lookup, ["rebind.example"]), `http://rebind.example:${canary.port}/`);
  expect([outcome.isError, asked, hits() - before]).toEqual([false, ["rebind.example"], 1]);
});

test("21: a trusted host is trusted by its name, not for what it sends on to", async () => {
  const before = hits();
  const to = (url: string): string => `http://entry.example:${entry.port}/?to=${encodeURIComponent(Buffer.from(url).toString("base64"))}`;
  for (const url of [canary.url, `http://entry.example.evil.test:${canary.port}/`, `http://xentry.example:${canary.port}/`]) {
    expect([
      url,
      (
        await fetchUrl(
          webFetch(async () => [{ address: "127.0.0.1", family: 4 }]),
          to(url),
        )
      ).isError,
    ]).toEqual([url, true]);
  }
  expect(hits()).toBe(before);
});

test("21: a name of this machine or its network is refused for what it is, wherever it leads", async () => {
  // Addresses that are in no list and lead nowhere.
  const tool = webFetch(async () => [{ address: "192.0.2.1", family: 4 }]);
  for (const name of NAMES)
    expect([name, (await fetchUrl(tool, `http://${name}:${canary.port}/`)).details]).toEqual([
      name,
      expect.objectContaining({ error: expect.stringMatching(REFUSED) }),
    ]);
});
