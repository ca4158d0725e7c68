import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { createSubsystemLogger } from "openclaw/plugin-sdk/runtime-env";
import { withFileLock } from "openclaw/plugin-sdk/file-lock";
import { createPluginRuntimeStore } from "openclaw/plugin-sdk/runtime-store";

const log = createSubsystemLogger("notes");
const store = createPluginRuntimeStore({ pluginId: "notes", errorMessage: "not yet" });

export default definePluginEntry({
  id: "notes",
  name: "Notes",
  description: "Notes on the command line.",
  register(api) {
    store.setRuntime(api.runtime);
    api.registerCli(
      ({ program, logger }) => {
        program
          .command("notes")
          .argument("<text>")
          .action(async (text: string) => {
            const file = api.resolvePath("~/.notes.json");
            await withFileLock(file, { retries: { retries: 3, factor: 2, minTimeout: 10, maxTimeout: 100 }, stale: 1000 }, async () => logger.info(text));
            log.info(store.getRuntime().version);
          });
      },
      { commands: ["notes"] },
    );
    // Members that not every host has are asked for.
    api.registerMemoryCapability?.({ promptBuilder: () => [] });
  },
});
