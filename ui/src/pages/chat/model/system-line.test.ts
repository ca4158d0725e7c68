import { expect, test } from "vitest";
import { readSystemLine } from "./system-line.ts";

const summary = (line: string): string => readSystemLine(`[2026-01-05 16:26:03 UTC] ${line}`).summary;

test("a system line has a short summary and its whole text", () => {
  expect(summary("Exec finished (gateway id=1b-2c, session=calm-sea, code 0)\nsaid")).toBe("The command finished");
  expect(summary("Exec finished (gateway id=1b-2c, session=calm-sea, code 3)")).toBe("The command finished with exit code 3");
  expect(summary("Exec finished (gateway id=1b-2c, session=calm-sea, signal SIGTERM)")).toBe("The command was terminated by signal SIGTERM");
  expect(summary("Exec denied (gateway id=1b-2c, user-denied): rm -r x")).toBe("The command was denied");
  expect(summary("Exec denied (gateway id=1b-2c, approval-timeout (allowlist-miss)): rm -r x")).toBe("The command was not approved in time");
  expect(summary("Exec interrupted (gateway id=1b-2c, outcome-unknown: the gateway ended while it ran): x")).toBe(
    "The gateway stopped while the command was running",
  );
  expect(summary("Gateway restarted: config ok")).toBe("Gateway restarted: config ok");
  expect(readSystemLine("[2026-01-05 16:26:03 UTC] Exec finished (code 0)\nsaid\nmore").whole).toBe("Exec finished (code 0)\nsaid\nmore");
  expect(summary("x".repeat(500))).toHaveLength(121);
});
