import type { SetupPort } from "../../gateway/index.ts";
import { onboard } from "../onboard.ts";
import { gatewayHost } from "./host.ts";
import { createQuickSetup, type QuickDeps } from "./quick.ts";
import { createWizards } from "./wizards.ts";

/** The first steps in a running gateway: at once, or as a wizard. */
export function openSetup(deps: QuickDeps): SetupPort {
  const { clock, ids, redactor } = deps;
  const wizard = createWizards({
    clock,
    ids,
    redact: redactor.text,
    run: (ask, answers, signal) => onboard(gatewayHost(deps, signal), { ask, answers, command: "wizard" }),
  });
  return { ...createQuickSetup(deps), wizard };
}
