/** Hooks that nothing in `src` calls yet, each with its reason. A line goes when its module is built; none is added. */
export const UNCALLED: Readonly<Record<string, string>> = {};

/** Hooks that are called, but not in a gateway that runs, each with its reason. */
export const NOT_IN_A_GATEWAY: Readonly<Record<string, string>> = {
  before_install: "installs are done by the command line, where no plugin is loaded; test/plugins/install-gates.test.ts fires it",
};
