import { isObject, workspaceFolder, type PathContext } from "../../config/index.ts";
import { child } from "./settings.ts";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The default agent's workspace: the one whose plugins are looked at. */
export function defaultWorkspace(config: unknown, context: PathContext): string {
  const { defaults, list } = child(config, "agents");
  const agents = Array.isArray(list) ? list.filter(isObject) : [];
  const agent = agents.find((candidate) => candidate["default"] === true) ?? agents[0];
  return workspaceFolder(context, {
    id: text(agent?.["id"]) ?? "main",
    isDefault: true,
    own: text(agent?.["workspace"]),
    defaults: isObject(defaults) ? text(defaults["workspace"]) : undefined,
  });
}
