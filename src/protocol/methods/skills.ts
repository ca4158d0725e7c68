import { method } from "../method.ts";
import { anything, closed, count, effect, filled, flag, free, list, map, maybe, none, number, open, orNull, text, texts } from "../pieces.ts";

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

/** Skills: what an agent can learn from a folder. */
export const skillsMethods = {
  "skills.status": method({
    access: "operator.read",
    params: closed({ agentId: maybe(filled()) }),
    result: closed({ workspaceDir: text(), managedSkillsDir: text(), skills: list(Skill) }),
    effect: false,
    module: "agent",
    summary: "All skills and what each of them lacks.",
  }),
  "skills.bins": method({
    access: "node",
    params: none(),
    result: closed({ bins: texts() }),
    effect: false,
    module: "agent",
    summary: "Programs that skills ask for, so that a node can say which it has.",
  }),
  "skills.install": method({
    access: "operator.admin",
    params: effect({ name: filled(), installId: filled(), timeoutMs: maybe(count({ minimum: 1000 })) }),
    result: closed({ ok: flag(), message: text(), stdout: text(), stderr: text(), code: orNull(number()), warnings: maybe(texts()) }),
    effect: true,
    module: "agent",
    summary: "Installs what a skill lacks. A failure carries the output too.",
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
    summary: "Turns a skill on or off and sets its key and environment.",
  }),
};
