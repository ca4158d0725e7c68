import { expect, test } from "vitest";
import { hostRefused, originAllowed, originRefused } from "./origin.ts";
import { parseTrustedProxies, peerOf } from "./peer.ts";

test.each([
  ["the gateway's own page", "http://gw.example.com:18789", "gw.example.com:18789", true],
  ["its own page in capitals", "HTTP://GW.example.com:18789", "gw.EXAMPLE.com:18789", true],
  ["behind TLS on the usual port", "https://gw.example.com", "gw.example.com", true],
  ["the usual port written out", "https://gw.example.com", "gw.example.com:443", true],
  ["another port of the same host", "http://gw.example.com:3000", "gw.example.com:18789", false],
  ["another host", "https://evil.example", "gw.example.com:18789", false],
  ["a host that begins the same", "http://gw.example.com.evil.example:18789", "gw.example.com:18789", false],
  ["a development server on this machine", "http://localhost:5173", "127.0.0.1:18789", true],
  ["IPv6 and IPv4 of this machine", "http://[::1]:18789", "localhost:18789", true],
  ["a page of this machine to another one", "http://localhost:5173", "gw.example.com:18789", false],
  ["a foreign page to this machine", "https://evil.example", "127.0.0.1:18789", false],
  ["a name that begins with localhost", "http://localhost.evil.example", "localhost:18789", false],
  ["a listed one", "https://panel.example", "gw.example.com:18789", true],
  ["a listed one with another scheme", "http://panel.example", "gw.example.com:18789", false],
  ["null, as sandboxed frames send it", "null", "127.0.0.1:18789", false],
  ["a file", "file://", "127.0.0.1:18789", false],
  ["nothing", undefined, "127.0.0.1:18789", false],
  ["no Host", "http://localhost", undefined, false],
])("origin: %s", (_, origin, host, expected) => {
  expect(originAllowed(origin, host, ["https://panel.example/"])).toBe(expected);
});

test.each([
  ["openclaw-control-ui", "ui", undefined, true],
  ["webchat-ui", "ui", undefined, true],
  ["gateway-client", "webchat", undefined, true],
  ["cli", "cli", undefined, false],
  ["node-host", "node", undefined, false],
  ["cli", "cli", "https://evil.example", true],
  ["gateway-client", "backend", "null", true],
  ["openclaw-control-ui", "webchat", "http://127.0.0.1:18789", false],
  ["cli", "cli", "http://127.0.0.1:18789", false],
])("client %s in mode %s with origin %s is refused: %s", (id, mode, origin, expected) => {
  const headers = { host: "127.0.0.1:18789", ...(origin === undefined ? {} : { origin }) };
  expect(originRefused({ socket: { remoteAddress: "127.0.0.1" }, headers }, { id, mode }, [])).toBe(expected);
});

test.each([
  ["this machine by name", "127.0.0.1", { host: "localhost:18789" }, false],
  ["this machine by address", "127.0.0.1", { host: "127.0.0.1:18789" }, false],
  ["IPv6", "::1", { host: "[::1]:18789" }, false],
  ["a Tailscale name", "127.0.0.1", { host: "box.tail1234.ts.net" }, false],
  ["a name without a dot", "127.0.0.1", { host: "workstation:18789" }, false],
  ["a listed name", "127.0.0.1", { host: "panel.example" }, false],
  ["a foreign name that points here", "127.0.0.1", { host: "rebind.evil.example:18789" }, true],
  ["the same with a dot at its end", "127.0.0.1", { host: "rebind.evil.example.:18789" }, true],
  ["a foreign name from another machine", "203.0.113.9", { host: "gw.example.com" }, false],
  ["a proxy on this machine", "127.0.0.1", { host: "gw.example.com", "x-forwarded-for": "198.51.100.7" }, false],
])("host: %s", (_, remoteAddress, headers, expected) => {
  const peer = peerOf({ socket: { remoteAddress }, headers }, []);
  expect(hostRefused(peer, { allowedOrigins: ["https://panel.example"], guarded: true })).toBe(expected);
});

test("without a secret to give, headers that a page can add itself open nothing", () => {
  const request = { socket: { remoteAddress: "127.0.0.1" }, headers: { host: "rebind.evil.example", "x-forwarded-for": "1.1.1.1" } };
  expect(hostRefused(peerOf(request, []), { allowedOrigins: [], guarded: false })).toBe(true);
  expect(hostRefused(peerOf(request, parseTrustedProxies(["127.0.0.1"])), { allowedOrigins: [], guarded: false })).toBe(false);
});
