import { expect, test } from "vitest";
import { socketAddress } from "./client.ts";

test("web addresses become socket addresses", () => {
  expect(socketAddress("http://127.0.0.1:18789", false)).toBe("ws://127.0.0.1:18789/");
  expect(socketAddress("https://gateway.example/base#token=x", false)).toBe("wss://gateway.example/base");
});

test.each(["ws://localhost:1", "ws://127.0.0.1:1", "ws://127.8.9.1:1", "ws://[::1]:1", "wss://192.168.1.2:1"])("%s is reached safely", (url) => {
  expect(socketAddress(url, false)).toBe(`${url}/`);
});

test.each(["ws://192.168.1.2:1", "http://gateway.example", "ws://127.0.0.1.example:1", "ws://localhost.example:1", "ws://[2001:db8::1]:1"])(
  "%s would send secrets in the clear and is refused",
  (url) => {
    expect(() => socketAddress(url, false)).toThrow(/unencrypted; use wss/);
    expect(socketAddress(url, true)).toMatch(/^ws:/);
  },
);

test.each([
  ["127.0.0.1:18789", /expected ws:\/\/|not an address/],
  ["ftp://127.0.0.1", /expected ws:\/\/ or wss:\/\/, not ftp/],
  ["ws://me:secret@127.0.0.1", /may not contain a user or password/],
])("%s is refused with what is wrong", (url, message) => {
  expect(() => socketAddress(url, true)).toThrow(message);
});
