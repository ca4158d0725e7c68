import { expect, test } from "vitest";
import type { SkillStatus } from "../../agent/index.ts";
import { planPrograms, type Host } from "./plan.ts";
import { waysOf } from "./way.ts";

const NOTHING = { bins: [], anyBins: [], env: [], config: [], os: [] };
const HOST: Host = { platform: "linux", nodeManager: "npm", preferBrew: true, installers: new Set(["brew", "npm", "go", "uv"]), isRoot: false };

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

const lineFor = (install: readonly unknown[], host: Partial<Host> = {}) => planPrograms([skill("a", install)], { ...HOST, ...host })[0];

const BREW = { kind: "brew", formula: "jq" };
const NODE = { kind: "node", package: "@acme/tool" };
const UV = { kind: "uv", package: "tool" };
const GO = { kind: "go", module: "github.com/acme/tool@latest" };

test.each<[readonly unknown[], Partial<Host>, string | undefined]>([
  [[NODE, BREW], {}, "brew install jq"],
  [[NODE, BREW], { preferBrew: false }, "npm install --global --ignore-scripts @acme/tool"],
  [[NODE, BREW], { installers: new Set(["npm"]) }, "npm install --global --ignore-scripts @acme/tool"],
  [[NODE], { nodeManager: "pnpm", installers: new Set(["pnpm"]) }, "pnpm add --global --ignore-scripts @acme/tool"],
  [[NODE], { nodeManager: "bun", installers: new Set(["bun"]) }, "bun add --global --ignore-scripts @acme/tool"],
  [[GO, NODE, UV], {}, "uv tool install tool"],
  [[GO], {}, "go install github.com/acme/tool@latest"],
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
  expect(lineFor(install, host)?.line?.join(" ")).toBe(line);
});

test("an installer that is not there is named, with where to get it; nothing is run instead", () => {
  expect(lineFor([BREW], { installers: new Set() })).toMatchObject({ reason: expect.stringContaining("https://brew.sh") });
  expect(lineFor([NODE], { nodeManager: "pnpm" })).toMatchObject({ reason: "pnpm is not installed or not on PATH" });
  expect(lineFor([BREW], { installers: new Set() })).not.toHaveProperty("line");
});

test("Homebrew is not run as root; a download is a person's work", () => {
  expect(lineFor([BREW], { isRoot: true })).toMatchObject({ reason: expect.stringContaining("root") });
  expect(lineFor([{ kind: "download", url: "https://example.test/tool.tar.gz" }])).toMatchObject({ reason: "download it: https://example.test/tool.tar.gz" });
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
  { kind: "sh", command: "curl | sh" },
  "npm i x",
])("%j is no way", (option) => expect(waysOf([option], "linux", "npm")).toEqual([]));

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
  expect(plans.map((plan) => plan.skill)).toEqual(["a"]);
});
