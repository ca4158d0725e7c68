import { reservedCommand } from "./commands.ts";
import type {
  ChannelRegistration,
  CliRegistration,
  CommandRegistration,
  HttpHandler,
  MediaProviderRegistration,
  MethodRegistration,
  ProviderRegistration,
  RouteRegistration,
  ServiceRegistration,
  SessionExtensionRegistration,
  ToolRegistration,
} from "./kinds.ts";
import type { RegistryPorts } from "./ports.ts";
import { createTable, type Table } from "./table.ts";

/** What plugins have registered, by kind. Modules below read these and do not know about plugins. */
export interface Registries {
  readonly tools: Table<ToolRegistration>;
  readonly commands: Table<CommandRegistration>;
  readonly channels: Table<ChannelRegistration>;
  readonly providers: Table<ProviderRegistration>;
  readonly mediaProviders: Table<MediaProviderRegistration>;
  readonly gatewayMethods: Table<MethodRegistration>;
  readonly httpRoutes: Table<RouteRegistration>;
  readonly httpHandlers: Table<HttpHandler>;
  readonly services: Table<ServiceRegistration>;
  readonly cli: Table<CliRegistration>;
  readonly sessionExtensions: Table<SessionExtensionRegistration>;
}

export function createRegistries({ coreMethod, coreTool }: Pick<RegistryPorts, "coreMethod" | "coreTool">): Registries {
  return {
    tools: createTable({ kind: "tool", reserved: coreTool }),
    commands: createTable({ kind: "command", reserved: reservedCommand }),
    channels: createTable({ kind: "channel" }),
    providers: createTable({ kind: "provider" }),
    mediaProviders: createTable({ kind: "media provider" }),
    gatewayMethods: createTable({ kind: "gateway method", reserved: coreMethod }),
    httpRoutes: createTable({ kind: "http route" }),
    httpHandlers: createTable({ kind: "http handler" }),
    services: createTable({ kind: "service" }),
    cli: createTable({ kind: "cli" }),
    sessionExtensions: createTable({ kind: "session extension" }),
  };
}
