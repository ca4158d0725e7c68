import { expect, test } from "vitest";
import { AppError } from "../base/errors.ts";
import { resolveSecret, type SecretInput, type SecretsDeps } from "./secrets.ts";

function deps(over: Partial<SecretsDeps> = {}): { reported: string[]; warned: string[]; deps: SecretsDeps } {
  const reported: string[] = [];
  const warned: string[] = [];
  return {
    reported,
    warned,
    deps: {
      env: () => ({ KEY: "from-env" }),
      readFile: () => Buffer.from("from-file\n"),
      mode: () => 0o600,
      home: "/home/me",
      cwd: "/cwd",
      onSecret: (value) => reported.push(value),
      warn: (message) => warned.push(message),
      ...over,
    },
  };
}

const at = "gateway.auth.token";

test("a text, a variable, a file, a field of a file, a program", async () => {
  const { deps: ports, reported } = deps({
    readFile: (path) => Buffer.from(path === "/home/me/keys.json" ? '{ "a": "from-field" }' : "from-file\r\n"),
    run: async (command, args, limits) => `${command} ${args.join(" ")} ${limits.timeoutMs} ${limits.maxBytes}\n`,
  });
  expect(await resolveSecret("x-${KEY}", at, ports)).toBe("x-from-env");
  expect(await resolveSecret({ source: "env", id: "KEY" }, at, ports)).toBe("from-env");
  expect(await resolveSecret({ source: "file", path: "secret" }, at, ports)).toBe("from-file");
  expect(await resolveSecret({ source: "file", path: "~/keys.json", key: "a" }, at, ports)).toBe("from-field");
  expect(await resolveSecret({ source: "exec", command: "pass", args: ["show", "x"] }, at, ports)).toBe("pass show x 10000 65536");
  expect(reported).toEqual(["x-from-env", "from-env", "from-file", "from-field", "pass show x 10000 65536"]);
});

const big = Buffer.alloc(64 * 1024 + 1, "S");
const leaky = () => Promise.reject<string>(new Error("stderr: S3CRET"));

const FAILURES: readonly [string, SecretInput, Partial<SecretsDeps>, string][] = [
  ["an unset variable", "${NONE}", {}, "NONE is not set"],
  ["an unset variable by id", { source: "env", id: "NONE" }, {}, "NONE is not set"],
  ["an empty text", "", {}, "it is empty"],
  [
    "a missing file",
    { source: "file", path: "f" },
    {
      readFile: () => {
        throw new AppError("NOT_FOUND", "could not read: /cwd/f does not exist; check the path");
      },
    },
    "does not exist",
  ],
  ["a large file", { source: "file", path: "f" }, { readFile: () => big }, "more than 65536 bytes"],
  ["a file without the key", { source: "file", path: "f", key: "k" }, { readFile: () => Buffer.from('{ "S3CRET": 1 }') }, 'no string at key "k"'],
  ["a file that is not JSON", { source: "file", path: "f", key: "k" }, { readFile: () => Buffer.from("S3CRET") }, "is not JSON"],
  ["a failing program", { source: "exec", command: "p" }, { run: leaky }, "p failed"],
  ["a talkative program", { source: "exec", command: "p" }, { run: async () => big.toString() }, "more than 65536 bytes"],
  ["a silent program", { source: "exec", command: "p" }, { run: async () => "\n" }, "it is empty"],
  ["no way to run programs", { source: "exec", command: "p" }, {}, "cannot be run here"],
];

test.each(FAILURES)("%s is SECRET_UNRESOLVED with its place and never a value", async (_, input, over, why) => {
  const failed = await resolveSecret(input, at, deps(over).deps).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "SECRET_UNRESOLVED", message: expect.stringContaining(at) });
  expect(String(failed)).toContain(why);
  expect(`${String(failed)}${String((failed as Error).cause)}`).not.toMatch(/S3CRET|SSSS/);
});

test("a file that others may read is used with a warning", async () => {
  const { deps: ports, warned } = deps({ mode: () => 0o644 });
  expect(await resolveSecret({ source: "file", path: "f" }, at, ports)).toBe("from-file");
  expect(warned).toEqual([expect.stringContaining("chmod 600")]);
});
