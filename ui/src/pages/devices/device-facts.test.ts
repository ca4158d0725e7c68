import { expect, test } from "vitest";
import { inOrder, lastSeen, liveTokens, nameOf, programOf, scopeWords, type Paired, type Token } from "./device-facts.ts";

const token = (over: Partial<Token> = {}): Token => ({ role: "operator", scopes: [], createdAtMs: 1, ...over });
const device = (deviceId: string, tokens: Token[] = []): Paired => ({ deviceId, publicKey: "k", createdAtMs: 1, approvedAtMs: 5, tokens });

test("a device without a name is called by its program, or by the beginning of its id", () => {
  expect([nameOf({ deviceId: "0123456789ab", displayName: " " }), nameOf({ deviceId: "0123", clientId: "cli" })]).toEqual(["Device 01234567", "cli"]);
});

test("a device was seen when any of its tokens was last used", () => {
  expect(lastSeen(device("a", [token({ lastUsedAtMs: 4 }), token({ lastUsedAtMs: 9 }), token()]))).toBe(9);
  expect(lastSeen(device("a"))).toBeUndefined();
});

test("tokens that were taken away open nothing", () => {
  expect(liveTokens(device("a", [token({ revokedAtMs: 3 }), token({ role: "node" })])).map(({ role }) => role)).toEqual(["node"]);
});

test("this browser stands first, then what was seen last", () => {
  const all = [device("old"), device("new", [token({ lastUsedAtMs: 99 })]), device("own")];
  expect(inOrder(all, "own").map(({ deviceId }) => deviceId)).toEqual(["own", "new", "old"]);
});

test("scopes are said in words, unknown ones as they are", () => {
  expect([scopeWords("operator.admin"), scopeWords("x.y")]).toEqual(["Change everything", "x.y"]);
});

test("a device says which program it runs; this page is recognized by its name", () => {
  expect(programOf({ clientId: "openclaw-control-ui", clientMode: "ui", platform: "web" })).toBe("Control UI in a browser");
  expect(programOf({ clientId: "cli", clientMode: "cli", platform: "linux" })).toBe("cli, linux");
});
