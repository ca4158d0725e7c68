import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeInstallPlace, pluginFiles, type InstallPlace } from "../harness/install-place.ts";
import { manualClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { createHooks } from "../../src/hooks/index.ts";

function withPolicy(installPolicy: unknown, pkg: object = {}): InstallPlace {
  const place = makeInstallPlace({ security: { installPolicy } });
  place.write("mine", pluginFiles("voice", { pkg: { name: "@team/voice", ...pkg } }));
  return place;
}

describe("security.installPolicy", () => {
  test.each<[string, unknown, string | undefined]>([
    ["nothing is said", undefined, undefined],
    ["it is off", { enabled: false, deny: ["*"] }, undefined],
    ["it is about skills", { targets: ["skill"], deny: ["*"] }, undefined],
    ["the plugin is allowed", { allow: ["voice"] }, undefined],
    ["its package is allowed by a pattern", { allow: ["@team/*"] }, undefined],
    ["another one is allowed", { allow: ["voices", "voic", "@other/*"] }, "security.installPolicy.allow"],
    ["it is denied", { allow: ["*"], deny: ["vo*e"] }, "security.installPolicy.deny"],
    ["its source is allowed", { sources: ["path"] }, undefined],
    ["its source is not", { sources: ["npm"] }, "it comes from path, allowed are npm"],
    ["nothing was found", { block: "info" }, undefined],
    ["a key is misspelt", { alow: ["voice"] }, "security.installPolicy.alow"],
    ["it is a text", "deny", "security.installPolicy: expected an object"],
    ["a list is a text", { allow: "voice" }, "security.installPolicy.allow: expected a list"],
    ["the program is no whole path", { exec: { command: "true" } }, "security.installPolicy.exec.command"],
    ["the program is not there", { exec: { command: "/nonexistent/judge" } }, "it could not be run"],
  ])("%s", async (_what, policy, refusal) => {
    const place = withPolicy(policy);
    const outcome = await place.install("./mine").then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (refusal === undefined) expect(outcome).toBeUndefined();
    else expect(outcome).toContain(refusal);
    expect(place.installed()).toEqual(refusal === undefined ? ["voice"] : []);
  });

  test("findings of the named severity block", async () => {
    const place = withPolicy({ block: "warn" }, { scripts: { postinstall: "x" } });
    await expect(place.install("./mine")).rejects.toThrow('security.installPolicy.block does not allow voice: package.json: has a "postinstall" script');
  });

  test.each<[string, string, string | undefined]>([
    ["says allow", `cat > "$0.seen"; echo '{"decision":"allow"}'`, undefined],
    ["says block", `cat >/dev/null; echo '{"decision":"block","reason":"not on a Friday"}'`, "not on a Friday"],
    ["says nothing", "cat >/dev/null", "returned no JSON"],
    ["says something else", `cat >/dev/null; echo '{"ok":true}'`, "its response has no decision"],
    ["fails", "echo sorry >&2; exit 3", "exited with code 3: sorry"],
  ])("a program that %s", async (_what, body, refusal) => {
    const place = makeInstallPlace();
    const judge = join(place.home, "judge");
    writeFileSync(judge, `#!/bin/sh\n${body}\n`);
    chmodSync(judge, 0o755);
    const asking = withPolicy({ exec: { command: judge } });
    const outcome = asking.install("./mine");
    if (refusal === undefined) await outcome;
    else await expect(outcome).rejects.toThrow(refusal);
    expect(asking.installed()).toEqual(refusal === undefined ? ["voice"] : []);
  });

  test("it also judges links", async () => {
    const place = withPolicy({ deny: ["voice"] });
    await expect(place.install("./mine", { link: true })).rejects.toThrow("security.installPolicy.deny");
    expect(place.config()).toEqual({ security: { installPolicy: { deny: ["voice"] } } });
  });
});

describe("before_install", () => {
  const listening = (handler: Parameters<ReturnType<typeof createHooks>["on"]>[1]): InstallPlace => {
    const hooks = createHooks({ clock: manualClock(), log: silentLogger, settings: () => ({}) });
    hooks.on("before_install", handler as never, { pluginId: "guard" });
    const place = makeInstallPlace({}, { hooks });
    place.write("mine", pluginFiles("voice", { pkg: { scripts: { install: "x" } } }));
    return place;
  };

  test("a handler sees what was staged and what was found, and adds to it", async () => {
    const seen: unknown[] = [];
    const place = listening((event: unknown) => {
      seen.push(event);
      return { findings: [{ message: "is new here" }] };
    });
    const { scan } = await place.install("./mine");
    expect(seen).toMatchObject([
      { targetType: "plugin", targetName: "voice", version: "1.0.0", builtinScan: { status: "warn", findings: [{ ruleId: "lifecycle-script" }] } },
    ]);
    expect(scan.findings).toMatchObject([{ ruleId: "lifecycle-script" }, { message: "is new here", severity: "warn" }]);
  });

  test("a handler blocks", async () => {
    const place = listening(() => ({ block: true, blockReason: "not this one" }));
    await expect(place.install("./mine")).rejects.toThrow("the plugin guard blocks the install of voice: not this one");
    expect([place.installed(), place.config()]).toEqual([[], {}]);
  });

  test("a handler that throws blocks", async () => {
    const place = listening(() => {
      throw new Error("broken");
    });
    await expect(place.install("./mine")).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    expect(place.installed()).toEqual([]);
  });

  test("the operator's policy is asked first", async () => {
    const called: unknown[] = [];
    const hooks = createHooks({ clock: manualClock(), log: silentLogger, settings: () => ({}) });
    hooks.on("before_install", () => void called.push(1), { pluginId: "guard" });
    const place = makeInstallPlace({ security: { installPolicy: { deny: ["*"] } } }, { hooks });
    place.write("mine", pluginFiles("voice"));
    await expect(place.install("./mine")).rejects.toThrow("security.installPolicy.deny");
    expect(called).toEqual([]);
  });
});
