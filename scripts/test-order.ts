import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take long although they are small, the longest first: begun last, one of them would run alone for half a minute. */
const LONG = [
  /bench\/run/,
  /conformance\/channels\/telegram/,
  /test\/fuzz/,
  /e2e\/(?:examples|new-user)/,
  /scripts\/mutants/,
  /security\/(?:24|39)/,
  /conformance\/channels/,
  /plugins\/watchdog/,
  /test\/(?:chaos|wire)/,
  /test\/ui\/(?:axe|gateway-goes|keyboard-tasks|chat|security|drafts|channels|transcript|rotation|trace)/,
  /test\/ui/,
  /test\/faults/,
  /test\/(?:e2e|security|tui|setup)/,
  // What stands beside the code is short and comes last.
  /\/test\//,
];

function rankOf({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((pattern) => pattern.test(moduleId));
  return at < 0 ? LONG.length : at;
}

/** The order in which files are run: those that take longest first, then the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rankOf(a) - rankOf(b));
  }
}

/** In CI the tests of a file always run in this order, so that what passed passes again. Every other run has an order of its own, and finds what depends on it. */
export const CI_SEED = 35_976_031;
