import { expect, test } from "vitest";
import type { SkillStatus } from "../create-skills.ts";
import { describePlan, planInstall, planPrograms, type InstallHost } from "./plan.ts";
import { waysOf } from "./way.ts";

const NOTHING = { bins: [], anyBins: [], env: [], config: [], os: [] };
const HOST: InstallHost = { platform: "linux", nodeManager: "npm", preferBrew: true, installers: new Set(["brew", "npm", "go", "uv"]), isRoot: false };
const having = (...names: string[]): Partial<InstallHost> => ({ installers: new Set(names) });

const skill = (name: string, install: readonly unknown[], over: object = {}): SkillStatus =>
  ({
    name,
    filePath: `/skills/${name}/SKILL.md`,
    install,
    eligible: false,
    disabled: false,
    blockedByAllowlist: false,
    missing: { ...NOTHING, bins: ["tool"] },
    ...over,
  }) as unknown as SkillStatus;

const planFor = (install: readonly unknown[], host: Partial<InstallHost> = {}) => planPrograms([skill("a", install)], { ...HOST, ...host })[0]!;

const BREW = { kind: "brew", formula: "jq" };
const NODE = { kind: "node", package: "@acme/tool" };
const UV = { kind: "uv", package: "tool" };
const GO = { kind: "go", module: "github.com/acme/tool@latest" };
const FILE = { kind: "download", url: "https://example.test/tool.tar.gz" };

test.each<[readonly unknown[], Partial<InstallHost>, string]>([
  [[NODE, BREW], {}, "brew install jq"],
  [[NODE, BREW], { preferBrew: false }, "npm install --global --ignore-scripts @acme/tool"],
  [[NODE, BREW], having("npm"), "npm install --global --ignore-scripts @acme/tool"],
  [[NODE], { nodeManager: "pnpm", ...having("pnpm") }, "pnpm add --global --ignore-scripts @acme/tool"],
  [[NODE], { nodeManager: "yarn", ...having("yarn") }, "yarn global add --ignore-scripts @acme/tool"],
  [[NODE], { nodeManager: "bun", ...having("bun") }, "bun add --global --ignore-scripts @acme/tool"],
  [[GO, NODE, UV], {}, "uv tool install tool"],
  [[GO], {}, "go install github.com/acme/tool@latest"],
  [[{ kind: "go", module: "github.com/acme/tool" }], {}, "go install github.com/acme/tool@latest"],
  [[GO], { brewBin: "/opt/homebrew/bin" }, "GOBIN=/opt/homebrew/bin go install github.com/acme/tool@latest"],
  [[GO], having("brew"), "brew install go && go install github.com/acme/tool@latest"],
  [[GO], { isRoot: true, ...having("apt-get") }, "apt-get update -qq && apt-get install -y golang-go && go install github.com/acme/tool@latest"],
  [[GO], having("apt-get", "sudo"), "sudo -n apt-get update -qq && sudo -n apt-get install -y golang-go && go install github.com/acme/tool@latest"],
  [[UV], having("brew"), "brew install uv && uv tool install tool"],
  [[FILE], {}, "download https://example.test/tool.tar.gz and unpack it"],
  [[UV, FILE], having(), "download https://example.test/tool.tar.gz and unpack it"],
  [[{ ...BREW, os: ["darwin"] }, GO], {}, "go install github.com/acme/tool@latest"],
  [
    [
      { ...UV, bins: ["other"] },
      { ...GO, bins: ["tool"] },
    ],
    {},
    "go install github.com/acme/tool@latest",
  ],
])("%j on %j", (install, host, line) => {
  expect(describePlan(planFor(install, host))).toBe(line);
});

test("an installer that is not there is named, with where to get it; nothing is run instead", () => {
  expect(planFor([BREW], having())).toMatchObject({ blocked: expect.stringContaining("https://brew.sh"), steps: [] });
  expect(planFor([NODE], { nodeManager: "pnpm" })).toMatchObject({ blocked: "pnpm is not installed or not on PATH", steps: [] });
  expect(planFor([GO], having("apt-get"))).toMatchObject({ blocked: expect.stringContaining("https://go.dev/dl") });
  expect(planFor([UV], having("apt-get", "sudo"))).toMatchObject({ blocked: expect.stringContaining("https://docs.astral.sh/uv") });
});

test("Homebrew is not run as root", () => {
  expect(planFor([BREW], { isRoot: true })).toMatchObject({ blocked: expect.stringContaining("root"), steps: [] });
  expect(planFor([UV], { isRoot: true, ...having("brew") })).toMatchObject({ steps: [] });
});

test.each([
  { kind: "node", package: "--registry=http://evil.test" },
  { kind: "node", package: "git+ssh://evil.test/x" },
  { kind: "node", package: "../here" },
  { kind: "node", package: "https://evil.test/x.tgz" },
  { kind: "node", package: "a b" },
  { kind: "brew", formula: "--cask" },
  { kind: "brew", formula: "https://evil.test/x.rb" },
  { kind: "go", module: "-x" },
  { kind: "go", module: "../x" },
  { kind: "uv", package: "git+https://evil.test" },
  { kind: "uv", package: "--from" },
  { kind: "download", url: "http://example.test/tool" },
  { kind: "download", url: "file:///etc/passwd" },
  { kind: "download", url: "https://example.test/tool", archive: "rar" },
  { kind: "download", url: "https://example.test/tool.zip", stripComponents: -1 },
  { kind: "download", url: "https://example.test/tool.zip", sha256: "abc" },
  { kind: "sh", command: "curl | sh" },
  "npm i x",
])("%j is no way", (option) => expect(waysOf([option], "linux")).toEqual([]));

test("what kind of archive a download is follows from its address unless it is written", () => {
  const archive = (option: object) => waysOf([{ kind: "download", ...option }], "linux")[0]?.download;
  expect(archive({ url: "https://example.test/a.tgz?x=1" })).toMatchObject({ archive: "tar.gz", extract: true });
  expect(archive({ url: "https://example.test/a.tbz2" })).toMatchObject({ archive: "tar.bz2", extract: true });
  expect(archive({ url: "https://example.test/get", archive: "zip", extract: false, stripComponents: 1 })).toMatchObject({
    archive: "zip",
    extract: false,
    stripComponents: 1,
  });
  expect(archive({ url: "https://example.test/model.onnx" })).toMatchObject({ extract: false });
});

test("what several need is installed once; what lacks more than programs' platform, or is off, is left alone", () => {
  const plans = planPrograms(
    [
      skill("a", [NODE]),
      skill("b", [NODE]),
      skill("c", [UV], { disabled: true }),
      skill("d", [UV], { missing: { ...NOTHING, bins: ["x"], os: ["darwin"] } }),
      skill("e", [UV], { missing: { ...NOTHING, env: ["KEY"] } }),
    ],
    HOST,
  );
  expect(plans.map((plan) => plan.skill.name)).toEqual(["a"]);
});

test("a way keeps its own id and label", () => {
  const [way] = waysOf([{ ...UV, id: "mine", label: "Get it" }], "linux");
  expect(planInstall(way!, HOST)).toMatchObject({ way: { id: "mine", label: "Get it", kind: "uv" } });
});
