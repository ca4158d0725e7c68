/** Skills and plugins: what can be added to a gateway. */
import { Type } from "typebox";
import { advanced, amount, choice, count, flag, free, group, map, openGroup, secret, secretMap, text, texts, whole } from "./pieces.ts";
import { installs } from "./parts.ts";

const atLeastOne = (description: string) => whole(description, { minimum: 1 });

export const skills = group("Instructions that agents load when they need them.", {
  allowBundled: texts("Only these of the bundled skills."),
  load: group("Where skills are searched.", {
    extraDirs: texts("More folders."),
    watch: flag("Notice changes."),
    watchDebounceMs: amount("Wait for this many milliseconds of silence.", advanced),
  }),
  install: group("How a skill's programs are installed.", {
    preferBrew: flag("Homebrew first."),
    nodeManager: choice("Package manager for Node programs.", ["npm", "pnpm", "yarn", "bun"]),
  }),
  limits: group(
    "Bounds.",
    {
      maxCandidatesPerRoot: atLeastOne("Folders scanned."),
      maxSkillsLoadedPerSource: atLeastOne("Skills loaded from one place."),
      maxSkillsInPrompt: amount("Skills listed in the prompt."),
      maxSkillsPromptChars: amount("Longest list in the prompt."),
      maxSkillFileBytes: amount("Largest skill file."),
    },
    [],
    advanced,
  ),
  entries: map(
    "Settings by skill.",
    group("One skill.", {
      enabled: flag("Offer it."),
      apiKey: secret("Its key."),
      env: secretMap("Environment variables for it."),
      config: free("Its own settings."),
    }),
  ),
});

const budget = (description: string) => count(description, { maximum: 600_000 });

const pluginHooks = openGroup(
  "What its hooks may do.",
  {
    timeoutMs: budget("Longest a handler may take."),
    timeouts: map("The same by hook name.", budget("Milliseconds.")),
    allowConversationAccess: flag("Let it read whole conversations."),
    allowPromptInjection: flag("Let it change prompts; true when absent."),
    failClosed: flag("Block the call when a handler before a tool takes too long."),
  },
  Type.Unknown(),
  advanced,
);

export const plugins = group("Code that extends the gateway.", {
  enabled: flag("Load any plugins."),
  allow: texts("Only these plugins."),
  deny: texts("Never these plugins; wins over all."),
  disabled: texts("Another name for deny.", advanced),
  load: group("Where plugins are searched.", { paths: texts("More files or folders.") }),
  slots: group("Roles that one plugin fills.", {
    memory: text("Plugin that provides memory; none turns it off."),
    contextEngine: text("Plugin that puts the context together.", advanced),
  }),
  entries: map(
    "Settings by plugin.",
    group("One plugin.", {
      enabled: flag("Load it."),
      required: flag("Refuse tools while it is not loaded. When absent: if it guards tool calls.", advanced),
      config: free("Settings of the plugin itself."),
      hooks: pluginHooks,
      apiKey: secret("Its key."),
      env: secretMap("Environment variables for it.", advanced),
      subagent: free("What it may ask of subagents.", advanced),
      llm: free("What it may ask of models.", advanced),
    }),
  ),
  installs: installs("Installed plugins; written by the install command."),
});

export const security = group("Operator policy.", { installPolicy: free("Policy checked before something is installed.") }, [], advanced);
