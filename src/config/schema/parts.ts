/** Shapes that several sections use. */
import { Type } from "typebox";
import { advanced, choice, count, free, group, list, map, text, texts } from "./pieces.ts";

const modelProperties = {
  primary: text("Model to use, as provider/model."),
  fallbacks: texts("Models to try in this order when the primary one fails."),
};

export const modelWithFallbacks = (description: string) => group(description, modelProperties);

export const modelRef = (description: string) => Type.Union([Type.String(), modelWithFallbacks("A model and its fallbacks.")], { description });

const chatType = choice("Kind of chat; dm is an older word for direct.", ["direct", "group", "channel", "dm"]);

/** Allow or deny by where a message came from. */
export const accessRules = (description: string) =>
  group(description, {
    default: choice("What happens when no rule matches.", ["allow", "deny"]),
    rules: list(
      "Checked in order.",
      group(
        "One rule.",
        {
          action: choice("What this rule decides.", ["allow", "deny"]),
          match: group("All given fields must match.", {
            channel: text("Channel id."),
            chatType,
            keyPrefix: text("Beginning of the session key, without the agent part."),
            rawKeyPrefix: text("Beginning of the whole session key."),
          }),
        },
        ["action"],
      ),
    ),
  });

export const groupChat = (description: string) =>
  group(description, {
    mentionPatterns: texts("Regular expressions that count as a mention."),
    historyLimit: count("Group messages shown to the model before the one it answers."),
  });

export const typingMode = (description: string) => choice(description, ["never", "instant", "thinking", "message"]);
export const peerKind = chatType;

const installProperties = {
  source: choice("Where it came from.", ["npm", "archive", "path"]),
  spec: text("What was asked for."),
  sourcePath: text("Folder or archive it was taken from."),
  installPath: text("Folder it was put into."),
  version: text("Version that was installed."),
  resolvedName: text("Package name the registry answered with."),
  resolvedVersion: text("Version the registry answered with."),
  resolvedSpec: text("Exact name and version."),
  integrity: text("Integrity hash of the download."),
  shasum: text("SHA-1 of the download."),
  resolvedAt: text("When the registry was asked."),
  installedAt: text("When it was installed."),
};

/** Records that the install command keeps. */
export const installs = (description: string) => map(description, group("One install record.", installProperties, ["source"]), advanced);
export const hookInstalls = (description: string) =>
  map(description, group("One install record.", { ...installProperties, hooks: texts("Hooks it brought.") }, ["source"]), advanced);

export const anyParams = free("Parameters of its requests: temperature, maxTokens, topP and more; extraBody takes fields of the provider's own.");
export const hexColor = (description: string) => text(description, { pattern: "^#?[0-9a-fA-F]{6}$" });
