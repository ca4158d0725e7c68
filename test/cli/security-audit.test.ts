/** The security audit as people and scripts run it. */
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHECK_IDS } from "../../src/audit/catalogue.ts";
import { AUDIT_OPTIONS } from "../../src/cli/commands/security.ts";
import { readPage, ticked } from "../harness/docs-page.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";

interface Report {
  readonly ts: number;
  readonly summary: Readonly<Record<"critical" | "warn" | "info", number>>;
  readonly findings: readonly {
    readonly checkId: string;
    readonly severity: string;
    readonly title: string;
    readonly detail: string;
    readonly remediation?: string;
  }[];
  readonly deep?: { readonly gateway: { readonly attempted: boolean; readonly ok: boolean; readonly url: string | null; readonly error: string | null } };
}

function output(place: Place, ...flags: string[]): unknown {
  const { code, stdout, stderr } = place.cli("security", "audit", "--json", ...flags);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

const json = (place: Place, ...flags: string[]): Report => output(place, ...flags) as Report;

const ids = ({ findings }: Report): string[] => findings.map(({ checkId }) => checkId);

test("a gateway that was started for the first time has nothing critical, running or not", { timeout: 60_000 }, async () => {
  const place = makePlace();
  {
    await using gateway = await place.gateway();
    expect(gateway.url).toBeDefined();
    const running = json(place, "--deep");
    expect(running.summary).toEqual({ critical: 0, warn: 1, info: 1 });
    expect(ids(running)).toEqual(["gateway.trusted_proxies_missing", "summary.attack_surface"]);
    expect(running.deep).toEqual({ gateway: { attempted: true, ok: true, url: gateway.url, error: null } });
  }
  const stopped = json(place);
  expect([stopped.summary.critical, ids(stopped)]).toEqual([0, ["gateway.trusted_proxies_missing", "summary.attack_surface"]]);
  expect(stopped).not.toHaveProperty("deep");
  expect(Math.abs(Date.now() - stopped.ts)).toBeLessThan(3_600_000);
});

test("what is risky is named with what to do; --fix mends what is safe to mend, and says what it did", { timeout: 60_000 }, () => {
  const place = makePlace();
  place.configure(
    `{ // mine\n gateway: { mode: "local", auth: { mode: "none" } }, logging: { redactSensitive: "off" }, channels: { telegram: { botToken: "x", groupPolicy: "open" } } }`,
  );
  chmodSync(place.configPath, 0o644);
  const before = json(place);
  expect(ids(before)).toEqual(
    expect.arrayContaining(["gateway.loopback_no_auth", "fs.config.perms_world_readable", "channels.telegram.groups.open", "logging.redact_off"]),
  );
  expect(before.findings.every(({ title, detail }) => title !== "" && detail !== "")).toBe(true);
  const text = place.cli("security", "audit");
  expect([text.code, text.stdout]).toEqual([0, expect.stringMatching(/^Security audit: \d+ critical, \d+ warn, \d+ info\n\nCRITICAL\n/)]);
  expect(text.stdout).toMatch(/gateway\.loopback_no_auth {2}.*\n {2}.*\n {2}Fix: \S+\/bin\/openclaw config set gateway\.auth\.mode token/);
  const fixed = output(place, "--fix") as { fix: { ok: boolean; changes: string[]; actions: { path: string; mode: string }[] }; report: Report };
  const { fix, report } = fixed;
  expect(fix).toMatchObject({ ok: true, changes: ["channels.telegram.groupPolicy: open → allowlist", "logging.redactSensitive: off → tools"] });
  expect(fix.actions).toEqual([expect.objectContaining({ path: place.configPath, mode: "600" })]);
  expect(ids(report)).toContain("gateway.loopback_no_auth");
  expect(ids(report)).not.toEqual(expect.arrayContaining(["channels.telegram.groups.open"]));
  expect(readFileSync(place.configPath, "utf8")).toContain("// mine");
  expect(statSync(place.configPath).mode & 0o777).toBe(0o600);
});

test("entries that users wrote into the allowlist and that run anything are named", () => {
  const place = makePlace();
  place.configure(`{ gateway: { mode: "local", auth: { token: "0123456789abcdef0123456789abcdef" } } }`);
  expect(place.cli("approvals", "allowlist", "add", "/usr/bin/git").code).toBe(0);
  const { findings } = json(place);
  expect(findings.filter(({ checkId }) => checkId === "tools.exec.allowlist_risky")).toEqual([
    expect.objectContaining({ severity: "warn", detail: expect.stringContaining("/usr/bin/git") }),
  ]);
});

test("a configuration that cannot be read is said to be so", () => {
  const place = makePlace();
  place.configure(`{ gateway: `);
  expect(ids(json(place))).toContain("config.invalid");
  writeFileSync(join(place.home, "openclaw.json"), `{ gateway: { auth: { mode: "none" }, prot: 1 } }`);
  expect(ids(json(place))).toEqual(expect.arrayContaining(["config.invalid", "gateway.loopback_no_auth"]));
});

test("the page names every check id with its severities, and every flag", () => {
  const page = readPage("docs/security.md");
  const rows = page.rowsOf("| check id | severity | what it means |");
  expect(Object.fromEntries(rows.map(([id, severity]) => [ticked(id!)[0], severity!.split(", ")]))).toEqual(CHECK_IDS);
  expect(Object.keys(AUDIT_OPTIONS).filter((name) => !page.text.includes(`\`--${name}\``))).toEqual([]);
});
