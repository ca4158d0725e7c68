import { method } from "../method.ts";
import {
  amount,
  anything,
  choice,
  closed,
  count,
  done,
  effect,
  filled,
  flag,
  free,
  list,
  map,
  maybe,
  none,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";

const Needs = closed({ bins: texts(), anyBins: texts(), env: texts(), config: texts(), os: texts() });

const Skill = closed({
  name: filled(),
  description: text(),
  source: text(),
  bundled: flag(),
  filePath: text(),
  baseDir: text(),
  skillKey: filled(),
  primaryEnv: maybe(text()),
  emoji: maybe(text()),
  homepage: maybe(text()),
  always: flag(),
  disabled: flag(),
  blockedByAllowlist: flag(),
  eligible: flag(),
  requirements: Needs,
  missing: Needs,
  configChecks: list(anything()),
  install: list(open({ id: filled(), kind: text(), label: text(), bins: texts() })),
});

const Review = closed({
  name: filled(),
  description: text(),
  homepage: maybe(text()),
  files: list(closed({ path: text(), bytes: amount(), script: flag() })),
  bytes: amount(),
  bins: texts(),
  anyBins: texts(),
  env: texts(),
  config: texts(),
  os: texts(),
  install: texts(),
  findings: list(closed({ severity: text(), message: text(), file: maybe(text()), line: maybe(amount()) })),
});

const target = { agentId: maybe(filled({ description: "Into this agent's workspace. Without it: for all agents." })) };
const source = {
  source: filled({ maxLength: 2000, description: "A folder, an archive, an https address or a git repository, as `openclaw skills install` takes it." }),
  sha256: maybe(filled({ maxLength: 64, description: "Expected SHA-256 of the archive." })),
};

/** Bringing skills in, writing and removing them. */
const changes = {
  "skills.review": method({
    access: "operator.admin",
    params: closed({ ...source, ...target }),
    result: closed({
      review: Review,
      path: text(),
      digest: filled({ description: "Names these files: `skills.add` installs no others." }),
      replaces: flag({ description: "A skill of this name is in this folder." }),
      shadows: flag({ description: "A bundled skill has this name, and would not be used any more." }),
    }),
    effect: false,
    module: "plugins",
    summary: "Fetches a skill and returns what it contains. Nothing is installed, and nothing of it runs.",
  }),
  "skills.add": method({
    access: "operator.admin",
    params: effect({
      ...source,
      ...target,
      digest: filled({ description: "Of the `skills.review` that was looked at. Refused with `CONFLICT` if the files differ." }),
      force: maybe(flag({ description: "Replaces an installed skill, or is used instead of a bundled one." })),
    }),
    result: done({ status: choice(["installed", "replaced"]), name: filled(), path: text() }),
    effect: true,
    module: "plugins",
    summary: "Installs a reviewed skill. Nothing of it runs.",
  }),
  "skills.remove": method({
    access: "operator.admin",
    params: effect({ name: filled(), ...target, force: maybe(flag({ description: "Also one that was not installed by OpenClaw." })) }),
    result: done({ name: filled(), path: text() }),
    effect: true,
    module: "plugins",
    summary: "Deletes a skill of the folder for all agents, or of an agent's workspace. Its settings stay.",
  }),
  "skills.create": method({
    access: "operator.admin",
    params: effect({
      name: filled({ maxLength: 64 }),
      description: maybe(text({ maxLength: 1024 })),
      ...target,
      force: maybe(flag({ description: "It may have the name of a bundled skill, which it replaces." })),
    }),
    result: done({ name: filled(), path: text() }),
    effect: true,
    module: "plugins",
    summary: "Creates a skill to start from.",
  }),
  "skills.file.get": method({
    access: "operator.read",
    params: closed({ name: filled(), agentId: maybe(filled()) }),
    result: closed({
      name: filled(),
      path: text(),
      content: text(),
      hash: filled(),
      editable: flag({ description: "False for skills that come with OpenClaw or a plugin." }),
      installed: maybe(
        closed({
          source: text(),
          installedAt: text(),
          changed: texts({ description: "Files that are not as they were installed." }),
        }),
      ),
    }),
    effect: false,
    module: "agent",
    summary: "Returns a skill's SKILL.md.",
  }),
  "skills.file.set": method({
    access: "operator.admin",
    params: effect({
      name: filled(),
      agentId: maybe(filled()),
      content: text({ maxLength: 256_000 }),
      hash: filled({ description: "Of the file as the caller has seen it: refused with `CONFLICT` if it has changed." }),
    }),
    result: done({
      name: filled({ description: "The skill's name now: it is in the file." }),
      hash: filled(),
      remarks: list(closed({ severity: choice(["error", "warning"]), message: text(), file: text(), line: maybe(amount()) })),
    }),
    effect: true,
    module: "agent",
    summary: "Writes a skill's SKILL.md. A text that would not be a skill is refused.",
  }),
};

/** Skills: what an agent can learn from a folder. */
export const skillsMethods = {
  ...changes,
  "skills.status": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()) }),
    result: closed({ workspaceDir: text(), managedSkillsDir: text(), skills: list(Skill) }),
    effect: false,
    module: "agent",
    summary: "Lists all skills and their missing requirements.",
  }),
  "skills.bins": method({
    access: "node",
    params: none(),
    result: closed({ bins: texts() }),
    effect: false,
    module: "agent",
    summary: "Lists programs that skills require, so that a node can report which it has.",
  }),
  "skills.install": method({
    access: "operator.admin",
    params: effect({ name: filled(), installId: filled(), timeoutMs: maybe(count({ minimum: 1000 })) }),
    result: closed({ ok: flag(), message: text(), stdout: text(), stderr: text(), code: orNull(number()), warnings: maybe(texts()) }),
    effect: true,
    module: "agent",
    summary: "Installs missing requirements of a skill. A failure includes the output.",
  }),
  "skills.update": method({
    access: "operator.admin",
    params: effect({
      skillKey: filled(),
      enabled: maybe(flag()),
      apiKey: maybe(text({ description: "Empty removes it." })),
      env: maybe(map(text())),
    }),
    result: closed({ ok: flag(), skillKey: filled(), config: free() }),
    effect: true,
    module: "agent",
    summary: "Enables or disables a skill and sets its key and environment.",
  }),
};
