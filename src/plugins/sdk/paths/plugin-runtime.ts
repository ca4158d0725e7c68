export { getGlobalHookRunner, getPluginRuntimeGatewayRequestScope } from "../newer/small.ts";
