import { expect, test } from "vitest";
import { formatIssue, validateConfig } from "../index.ts";

const found = (gateway: object): string[] => validateConfig({ gateway }).map(formatIssue);

test("bind custom needs the address to listen on, and authentication", () => {
  expect(found({ bind: "custom" })).toEqual(['gateway.bind: "custom" needs gateway.customBindHost: the IP address to listen on']);
  expect(found({ bind: "custom", customBindHost: "192.168.1.10" })).toEqual([]);
  expect(found({ bind: "custom", customBindHost: "192.168.1.10", auth: { mode: "none" } })).toEqual([
    expect.stringMatching(/^gateway\.auth\.mode: "none" is not allowed with gateway\.bind "custom"/),
  ]);
});
