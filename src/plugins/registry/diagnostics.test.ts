import { expect, test } from "vitest";
import { silentLogger } from "../../base/log/logger.ts";
import { createDiagnostics } from "./diagnostics.ts";

test("a repeated diagnostic is kept once, and a flood of them is cut", () => {
  const lines: string[] = [];
  const diagnostics = createDiagnostics({ ...silentLogger, error: (text) => void lines.push(text), warn: (text) => void lines.push(text) });
  for (let i = 0; i < 5; i += 1) diagnostics.add({ level: "error", message: "same", pluginId: "p", source: "/p/i.ts", line: 3 });
  expect(lines).toEqual(["p: same (/p/i.ts:3)"]);
  for (let i = 0; i < 1000; i += 1) diagnostics.add({ level: "error", message: `no ${i}`, pluginId: "p" });
  expect(diagnostics.list()).toHaveLength(101);
  expect(diagnostics.list().at(-1)?.message).toBe("more than 100 diagnostics: the rest is omitted");
  diagnostics.add({ level: "warn", message: "another", pluginId: "q" });
  diagnostics.clear("p");
  expect(diagnostics.list().map(({ message }) => message)).toEqual(["another"]);
});
