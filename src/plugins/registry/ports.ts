import type { Hooks, InternalHooks, ToolPolicies } from "../../hooks/index.ts";
import type { MountRoute } from "./routes.ts";

/** Receives the registrations that other modules store. */
export interface RegistryPorts {
  readonly hooks: Pick<Hooks, "on">;
  readonly internalHooks: Pick<InternalHooks, "register">;
  readonly policies: Pick<ToolPolicies, "register">;
  readonly mountRoute: MountRoute;
  /** Who else has a gateway method of that name. */
  readonly coreMethod: (method: string) => string | undefined;
  /** Who else has a tool of that name. */
  readonly coreTool: (name: string) => string | undefined;
}
