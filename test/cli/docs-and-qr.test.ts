import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makePlace } from "../harness/gateway-process.ts";

const place = makePlace();

test("docs finds the part of a document that is about the words, without a network, and lists all documents", () => {
  const found = JSON.parse(place.cli("docs", "backups", "--json").stdout) as {
    readonly results: readonly { readonly file: string; readonly line: number }[];
  };
  const [best] = found.results;
  expect(best?.file).toMatch(/durability\.md$/);
  expect(readFileSync(best!.file, "utf8").split("\n")[best!.line - 1]).toMatch(/^#/);
  expect(place.cli("docs", "backups").stdout).toContain(`${best!.file}:${best!.line}`);
  expect(place.cli("docs").stdout).toMatch(/^cli\.md +\S/m);
  expect(place.cli("docs", "xyzzyplugh")).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("fewer words") });
});

test("qr gives a phone the address and the secret of the gateway, and says why not when none can reach it", () => {
  place.configure(`{ gateway: { mode: "local", auth: { token: "a-token-of-this-test-0123456789" } } }`);
  expect(place.cli("qr")).toMatchObject({ code: 1, stderr: expect.stringContaining("gateway.bind") });
  const { setupCode, ...rest } = JSON.parse(place.cli("qr", "--public-url", "https://claw.example.org/", "--json").stdout) as { readonly setupCode: string };
  expect(rest).toEqual({ gatewayUrl: "wss://claw.example.org", auth: "token", urlSource: "--public-url" });
  expect(JSON.parse(Buffer.from(setupCode, "base64url").toString())).toEqual({ url: "wss://claw.example.org", token: "a-token-of-this-test-0123456789" });
  expect(place.cli("qr", "--url", "ws://10.0.0.5:1", "--setup-code-only").stdout).toMatch(/^[\w-]+\n$/);
  expect(place.cli("qr", "--url", "10.0.0.5:1")).toMatchObject({ code: 1, stderr: expect.stringContaining("--url") });
  expect(place.cli("qr", "--remote")).toMatchObject({ code: 1, stderr: expect.stringContaining("gateway.remote.url") });
  const shown = place.cli("qr", "--url", "ws://10.0.0.5:1").stdout;
  expect(shown).toMatch(/█[\s\S]*Setup code/);
});
