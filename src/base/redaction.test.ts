import { expect, test } from "vitest";
import { createRedactor, isSecretKey } from "./redaction.ts";

test("a registered secret is masked wherever it appears, also inside a longer text", () => {
  const redactor = createRedactor();
  redactor.register("hunter2-hunter2");
  expect(redactor.text("login with hunter2-hunter2!")).toBe("login with ***!");
  expect(redactor.value({ note: ["x hunter2-hunter2"] })).toEqual({ note: ["x ***"] });
});

test("a secret that contains another one is masked whole", () => {
  const redactor = createRedactor();
  redactor.register("inner-secret");
  redactor.register("prefix-inner-secret-suffix");
  expect(redactor.text("prefix-inner-secret-suffix")).toBe("***");
});

test("fields named like secrets are masked by their key alone, token counts are not", () => {
  const shown = createRedactor().value({
    botToken: "123",
    apiKey: "abcdefghijklmnopqrstuvwxyz",
    maxTokens: 8192,
    totalTokens: 5,
    password: "pw",
    nested: { client_secret: "x" },
  });
  expect(shown).toEqual({ botToken: "***", apiKey: "abcdef…wxyz", maxTokens: 8192, totalTokens: 5, password: "***", nested: { client_secret: "***" } });
  expect(["contextTokens", "tokenBudget"].some(isSecretKey)).toBe(false);
});

test("unregistered secrets are caught by their shape", () => {
  const redactor = createRedactor();
  const shown = redactor.text(
    "Authorization: Bearer abcdefghijklmnop1234567890 and sk-abcdefghijklmnop1234567890 and 123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  );
  expect(shown).not.toMatch(/ghijklmnop|AAAAAAAAAA/);
  expect(redactor.text("GET https://example.org/bot123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/getMe")).not.toMatch(/AAAAAAAAAA/);
});

test("errors keep their message, code and cause, with secrets masked", () => {
  const redactor = createRedactor();
  redactor.register("topsecret99");
  const error = Object.assign(new Error("refused topsecret99", { cause: new Error("because topsecret99") }), { code: "EX" });
  expect(redactor.value(error)).toMatchObject({ message: "refused ***", code: "EX", cause: { message: "because ***" } });
  expect(JSON.stringify(redactor.value(error))).not.toContain("topsecret99");
});

test("cycles, depth and odd values do not break it", () => {
  const cycle: Record<string, unknown> = { big: 1n, bytes: new Uint8Array(3), fn: () => 0 };
  cycle["self"] = cycle;
  let deep: unknown = "end";
  for (let i = 0; i < 50; i += 1) deep = { deep };
  const redactor = createRedactor();
  expect(redactor.value(cycle)).toEqual({ big: "1", bytes: "[3 bytes]", fn: "[function]", self: "[circular]" });
  expect(JSON.stringify(redactor.value(deep))).toContain("[…]");
});

test("short texts are never registered: masking them would hide ordinary words", () => {
  const redactor = createRedactor();
  redactor.register("on");
  expect(redactor.text("once upon")).toBe("once upon");
});

test("patterns of the user's own are masked as well, until there are others", () => {
  const redactor = createRedactor();
  expect(redactor.patterns(["invoice-\\d+", "/Ticket\\s#(\\w+)/", "(", "x*"])).toEqual(["("]);
  expect(redactor.text("INVOICE-77 for Ticket #abc, ticket #abc, sk-0123456789abcdef0123")).toBe("*** for ***, ticket #abc, sk-012…0123");
  redactor.patterns([]);
  expect(redactor.text("invoice-77")).toBe("invoice-77");
});
