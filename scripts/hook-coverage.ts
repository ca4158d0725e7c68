/** Fails when a hook of the catalogue is called nowhere in `src`, unless `scripts/hooks/uncalled.ts` says why, or a documented field of one is supplied nowhere. */
import { HOOKS } from "../src/hooks/index.ts";
import { hookCallSites, hookProblems } from "./hooks/call-sites.ts";
import { allHookFields, fieldProblems, supplyingCode } from "./hooks/fields.ts";
import { UNCALLED } from "./hooks/uncalled.ts";

const problems = [...hookProblems(Object.keys(HOOKS), hookCallSites(), UNCALLED), ...fieldProblems(allHookFields(), supplyingCode())];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
