import { method } from "../method.ts";
import { amount, choice, closed, done, effect, filled, flag, list, maybe, moment, none, orNull, text } from "../pieces.ts";

const severity = choice(["critical", "warn", "info"]);

const Finding = closed({
  checkId: filled({ description: "Never changes." }),
  severity,
  title: text(),
  detail: text(),
  remediation: maybe(text({ description: "What to do." })),
});

const Fix = closed({
  id: filled(),
  kind: choice(["config", "chmod"]),
  path: filled({ description: "Of the configuration, or of a file." }),
  before: text(),
  after: text(),
});

/** What an attacker could use in this installation. Ours. */
export const securityMethods = {
  "security.audit": method({
    access: "operator.admin",
    params: closed({ deep: maybe(flag({ description: "Also probes the gateway from outside, and reads the code of plugins and skills." })) }),
    result: closed({
      ts: moment(),
      summary: closed({ critical: amount(), warn: amount(), info: amount() }),
      findings: list(Finding, { description: "Most severe first." }),
      deep: maybe(closed({ gateway: closed({ attempted: flag(), url: orNull(text()), ok: flag(), error: orNull(text()) }) })),
      fixes: list(Fix, { description: "What `security.fix` can do." }),
    }),
    effect: false,
    module: "audit",
    summary: "Audits the installation, as `openclaw security audit` does. Changes nothing.",
  }),
  "security.progress": method({
    access: "operator.admin",
    params: none(),
    result: closed({ running: orNull(closed({ done: amount(), total: amount(), name: text(), deep: flag() })) }),
    effect: false,
    module: "audit",
    summary: "Returns the progress of the running audit.",
  }),
  "security.fix": method({
    access: "operator.admin",
    params: effect({ id: filled({ description: "From `security.audit`." }) }),
    result: done({ fix: Fix }),
    effect: true,
    module: "audit",
    summary: "Applies one of the fixes that the audit offers.",
  }),
};
