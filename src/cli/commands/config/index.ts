import type { Group } from "../../command.ts";

export const config: Group = {
  entries: [
    { name: "get", summary: "the value in effect at a path", load: async () => (await import("./get.ts")).get },
    { name: "set", summary: "change one value in the file", load: async () => (await import("./set.ts")).set },
    { name: "unset", summary: "remove a key from the file", load: async () => (await import("./unset.ts")).unset },
    { name: "validate", summary: "check the file: every error with its line", load: async () => (await import("./validate.ts")).validate },
    { name: "schema", summary: "the JSON Schema, or the hints for forms", load: async () => (await import("./schema.ts")).schema },
    { name: "file", summary: "which files make up the configuration", load: async () => (await import("./file.ts")).file },
    { name: "diff", summary: "what a running gateway does about the file's changes", load: async () => (await import("./diff.ts")).diff },
    { name: "configure", summary: "set parts of it up with questions", load: async () => (await import("../configure.ts")).configure },
  ],
  fallback: "configure",
  examples: [
    { line: "openclaw config get gateway.port", does: "the port in effect" },
    { line: "openclaw config validate", does: "is the file right?" },
  ],
};
