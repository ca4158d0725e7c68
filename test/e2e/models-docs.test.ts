import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";

const FOLDER = join(ROOT, "docs/models");
const lines = readdirSync(FOLDER).flatMap((page) =>
  [...readFileSync(join(FOLDER, page), "utf8").matchAll(/```sh\n([\s\S]*?)```/g)].flatMap((match) => match[1]!.trim().split("\n")),
);

describe("every command that the pages about models show works as it stands there", () => {
  let place: Place;
  let env: Record<string, string | undefined>;

  beforeAll(() => {
    place = makePlace();
    place.configure(`{ gateway: { mode: "local" }, usage: { budgets: [{ per: "day", usd: 5 }] } }`);
    const bin = join(place.home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "openclaw"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/openclaw")}" "$@"\n`, { mode: 0o755 });
    writeFileSync(join(place.home, "key.txt"), "sk-of-this-test-0123456789abcdef\n");
    env = { ...place.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  });

  test("there are some", () => expect(lines.length).toBeGreaterThan(8));

  test.each(lines)("%s", (line) => {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", line], { env, cwd: place.home, encoding: "utf8", timeout: 20_000 });
    expect(stderr).not.toContain("error:");
    expect(status).toBe(0);
    expect(stdout).not.toBe("");
    expect(stdout).not.toContain("sk-of-this-test-0123456789abcdef");
  });

  test("budgets are shown with what is used of them", () => {
    const { stdout } = place.cli("models", "budgets");
    expect(stdout).toMatch(/day \d{4}-\d\d-\d\d +everything +░{20} +0 % +ok +\$0\.00 of \$5\.00\n/);
    expect(JSON.parse(place.cli("models", "budgets", "--json").stdout)).toMatchObject({
      budgets: [{ path: "usage.budgets[0]", per: "day", limit: { usd: 5 }, used: { usd: 0, tokens: 0 }, share: 0, state: "ok" }],
    });
  });
});
